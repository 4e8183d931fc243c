//===- TileMapSvg.cpp - A tile map as a picture ---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileMap.h"

#include <algorithm>
#include <cstdio>

using namespace attn;

// Lengths in the picture's own units, pixels where it is not scaled.
static constexpr double gridSize = 560; ///< the longer side of the grid
static constexpr double leastSide = 24; ///< however few rows or columns
static constexpr double left = 76, top = 92, right = 32;
static constexpr double lineHeight = 22, textSize = 13;
static constexpr double leastWidth = 470; ///< for the lines below the grid
static constexpr double leastCellWithLines = 3;
static constexpr int64_t mostCells = 256; ///< in a row, and rows
static constexpr int64_t ticks = 8;       ///< on an axis, about

static const char *colorOf(TileCell::Shade shade) {
  static constexpr const char *colors[] = {"#eceff3", "#8db9e8", "#24579b",
                                           "#3aa49a", "#e8963e"};
  static_assert(sizeof colors / sizeof *colors == shadeCount);
  return colors[shade];
}

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

static std::string escape(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '<'   ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '&' ? "&amp;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

namespace {
/// One picture, from top to bottom.
class SvgWriter {
public:
  explicit SvgWriter(const TileMap &map)
      : map(map), picture(makePicture(map, mostCells)) {
    // Positions are drawn to scale: as far apart along both axes.
    double queries = double(map.tileRows * picture.stepRows * picture.rows);
    double keys = double(map.tileKeys * picture.stepColumns * picture.columns);
    double scale = gridSize / std::max({queries, keys, 1.0});
    height = std::max(leastSide, queries * scale);
    width = std::max(leastSide, keys * scale);
    cellHeight = height / double(std::max<int64_t>(picture.rows, 1));
    cellWidth = width / double(std::max<int64_t>(picture.columns, 1));
  }

  std::string write();

private:
  void text(double x, double y, const std::string &content,
            const char *attributes = "");
  void rect(double x, double y, double w, double h, TileCell::Shade shade,
            const std::string &title);
  void title();
  void cells();
  void lines();
  void axes();
  /// The line below it.
  double legend(double y);

  const TileMap &map;
  TilePicture picture;
  double width, height, cellWidth, cellHeight;
  double textWidth = 0; ///< of the line below the title, about
  std::string body;
};
} // namespace

void SvgWriter::text(double x, double y, const std::string &content,
                     const char *attributes) {
  body += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " +
          attributes + ">" + escape(content) + "</text>\n";
}

void SvgWriter::rect(double x, double y, double w, double h,
                     TileCell::Shade shade, const std::string &title) {
  body += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
          number(w) + "\" height=\"" + number(h) + "\" fill=\"" +
          colorOf(shade) + "\" shape-rendering=\"crispEdges\"><title>" +
          escape(title) + "</title></rect>\n";
}

void SvgWriter::title() {
  constexpr double nameY = 30, factsY = 52;
  text(left, nameY, map.name, "font-size=\"19\" font-weight=\"600\"");
  std::string facts = std::to_string(map.qLen) + " queries x " +
                      std::to_string(map.kLen) + " keys, tiles of " +
                      std::to_string(map.tileRows) + " x " +
                      std::to_string(map.tileKeys) + ", " + map.schedule;
  for (const std::string &setting : map.settings)
    facts += ", " + setting;
  constexpr double letterWidth = 0.52 * textSize;
  textWidth = letterWidth * double(facts.size());
  text(left, factsY, facts, "fill=\"#5b6675\"");
}

/// Neighbours of one shade in a row are one rectangle.
void SvgWriter::cells() {
  for (int64_t row = 0; row < picture.rows; ++row)
    for (int64_t first = 0, end; first < picture.columns; first = end) {
      TileCell::Shade shade = picture.at(row, first);
      for (end = first + 1;
           end < picture.columns && picture.at(row, end) == shade;)
        ++end;
      auto range = [](int64_t first, int64_t end, int64_t step,
                      int64_t length) {
        return std::to_string(first * step) + " .. " +
               std::to_string(std::min(end * step, length) - 1);
      };
      rect(left + double(first) * cellWidth, top + double(row) * cellHeight,
           double(end - first) * cellWidth, cellHeight, shade,
           "queries " +
               range(row, row + 1, picture.stepRows * map.tileRows, map.qLen) +
               ", keys " +
               range(first, end, picture.stepColumns * map.tileKeys, map.kLen) +
               ": " + describe(shade));
    }
}

void SvgWriter::lines() {
  std::string path;
  if (cellHeight >= leastCellWithLines)
    for (int64_t row = 1; row < picture.rows; ++row)
      path += "M" + number(left) + " " +
              number(top + double(row) * cellHeight) + "h" + number(width);
  if (cellWidth >= leastCellWithLines)
    for (int64_t column = 1; column < picture.columns; ++column)
      path += "M" + number(left + double(column) * cellWidth) + " " +
              number(top) + "v" + number(height);
  if (!path.empty())
    body += "<path d=\"" + path +
            "\" stroke=\"#ffffff\" stroke-width=\"1\" fill=\"none\"/>\n";
}

void SvgWriter::axes() {
  constexpr double gap = 8, titleGap = 26;
  auto step = [](int64_t count) { return (count + ticks - 1) / ticks; };
  for (int64_t column = 0; column < picture.columns;
       column += step(picture.columns))
    text(left + double(column) * cellWidth, top - gap,
         std::to_string(column * picture.stepColumns * map.tileKeys),
         "fill=\"#5b6675\" font-size=\"11\"");
  text(left + width, top - titleGap + gap / 2, "keys",
       "text-anchor=\"end\" fill=\"#5b6675\" font-size=\"11\"");
  for (int64_t row = 0; row < picture.rows; row += step(picture.rows))
    text(left - gap, top + double(row) * cellHeight + textSize - 2,
         std::to_string(row * picture.stepRows * map.tileRows),
         "text-anchor=\"end\" fill=\"#5b6675\" font-size=\"11\"");
  text(left - gap, top - gap, "queries",
       "text-anchor=\"end\" fill=\"#5b6675\" font-size=\"11\"");
}

double SvgWriter::legend(double y) {
  constexpr double swatch = 13, gap = 9;
  TileCounts counts = countTiles(map);
  for (TileCell::Shade shade :
       {TileCell::Full, TileCell::Partial, TileCell::Skipped, TileCell::Masked,
        TileCell::Needless}) {
    if (shade > TileCell::Full && !counts.shades[shade])
      continue;
    rect(left, y - swatch + 2, swatch, swatch, shade, describe(shade));
    text(left + swatch + gap, y,
         std::to_string(counts.shades[shade]) + "  " + describe(shade));
    y += lineHeight;
  }
  y += lineHeight / 2;
  bool isFirst = true;
  for (const std::string &line : summarize(map)) {
    text(left, y, line, isFirst ? "font-weight=\"600\"" : "");
    isFirst = false;
    y += lineHeight;
  }
  if (picture.stepRows > 1 || picture.stepColumns > 1) {
    text(left, y,
         "each cell stands for " + std::to_string(picture.stepRows) + " x " +
             std::to_string(picture.stepColumns) +
             " tiles, partial where they differ",
         "fill=\"#5b6675\"");
    y += lineHeight;
  }
  return y;
}

std::string SvgWriter::write() {
  title();
  cells();
  lines();
  axes();
  double bottom = legend(top + height + 2 * lineHeight);
  std::string w =
      number(left + std::max({width, leastWidth, textWidth}) + right);
  std::string h = number(bottom);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
         w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w + " " + h +
         "\" font-family=\"system-ui, Helvetica, Arial, sans-serif\" "
         "font-size=\"13\" fill=\"#1f2933\">\n<title>" +
         escape(map.name) +
         ": tiles</title>\n<rect width=\"100%\" height=\"100%\" "
         "fill=\"#ffffff\"/>\n" +
         body + "</svg>\n";
}

std::string attn::toSvg(const TileMap &map) { return SvgWriter(map).write(); }
