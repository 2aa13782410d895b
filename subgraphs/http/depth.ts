/** How many lists and objects may lie in each other in JSON that somebody sends, as in variables of the graph. */
export const mostLevels = 100

/** How many lists, objects and fields of objects may stand in it together. */
export const mostParts = 200_000

const [quote, backslash, colon, opensObject, closesObject, opensList, closesList] = [0x22, 0x5c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Whether JSON nests deeper than that, or has more parts, found out before it is parsed: a few megabytes of brackets keep a parser busy for
 * seconds, and what it made of them nobody could write again; and so do hundreds of thousands of names. Numbers and texts count for nothing.
 */
export function isUnwieldy(json: Uint8Array): boolean {
  let [depth, parts] = [0, 0]
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) {
      at = endOfText(json, at)
      if (at < 0) return false
    } else if (byte === opensObject || byte === opensList) {
      depth += 1
      parts += 1
      if (depth > mostLevels || parts > mostParts) return true
    } else if (byte === colon) {
      parts += 1
      if (parts > mostParts) return true
    } else if (byte === closesObject || byte === closesList) depth -= 1
  }
  return false
}

/** Where a text that begins there ends; -1 when it does not. */
function endOfText(json: Uint8Array, from: number): number {
  for (let at = json.indexOf(quote, from + 1); at >= 0; at = json.indexOf(quote, at + 1)) {
    let before = at - 1
    while (json[before] === backslash) before -= 1
    if ((at - before) % 2 === 1) return at
  }
  return -1
}
