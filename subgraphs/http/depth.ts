/** Maximum nesting of lists and objects in received JSON, such as variables. */
export const mostLevels = 100

/** Maximum total number of lists, objects and fields in received JSON. */
export const mostParts = 200_000

const [quote, backslash, colon, opensObject, closesObject, opensList, closesList] = [0x22, 0x5c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Whether JSON nests too deep or has too many parts, determined before it is parsed: parsing megabytes of brackets or
 * hundreds of thousands of names takes seconds, and the result could not be serialized again. Numbers and texts do not
 * count.
 * @param levels maximum nesting
 */
export function isUnwieldy(json: Uint8Array, levels = mostLevels): boolean {
  let [depth, parts] = [0, 0]
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) {
      at = endOfText(json, at)
      if (at < 0) return false
    } else if (byte === opensObject || byte === opensList) {
      depth += 1
      parts += 1
      if (depth > levels || parts > mostParts) return true
    } else if (byte === colon) {
      parts += 1
      if (parts > mostParts) return true
    } else if (byte === closesObject || byte === closesList) depth -= 1
  }
  return false
}

/** Returns the end of the text that begins at a position; -1 when it does not end. */
function endOfText(json: Uint8Array, from: number): number {
  for (let at = json.indexOf(quote, from + 1); at >= 0; at = json.indexOf(quote, at + 1)) {
    let before = at - 1
    while (json[before] === backslash) before -= 1
    if ((at - before) % 2 === 1) return at
  }
  return -1
}
