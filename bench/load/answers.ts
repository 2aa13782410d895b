const endOfHead = '\r\n\r\n'

/**
 * Reads the answers of one HTTP/1.1 connection, with a length or chunked, and reports for each whether its body is the
 * expected one. Bodies are compared as they arrive and never assembled: a client with 87 kB of garbage for each answer
 * would pause for its collection, which would count as the gateway's latency.
 */
export function createReader(expected: Buffer, answered: (right: boolean) => void): (bytes: Buffer, length: number) => void {
  /** The received text of a header, or of the line before a chunk. */
  let text = ''
  let chunked = false
  /** Missing bytes of the body, or of the chunk; undefined within text. */
  let missing: number | undefined
  let compared = 0
  let right = true

  const end = () => {
    const verdict = right && compared === expected.length
    text = ''
    chunked = false
    missing = undefined
    compared = 0
    right = true
    answered(verdict)
  }

  return (bytes, length) => {
    for (let at = 0; at < length; ) {
      if (missing === undefined) {
        const wanted = chunked ? '\r\n' : endOfHead
        const before = text.length
        // Response headers are short, so only the beginning of a response is read as text.
        text += bytes.toString('latin1', at, Math.min(length, at + 512))
        // The line break that ends a chunk is at the beginning of the next line.
        const found = text.indexOf(wanted, chunked && text.startsWith('\r\n') ? 2 : 0)
        if (found === -1) {
          at += text.length - before
          continue
        }
        at += found + wanted.length - before
        const head = text.slice(0, found)
        text = ''
        if (chunked) {
          missing = Number.parseInt(head, 16)
          if (missing === 0) {
            // No gateway here sends trailers: the empty line follows.
            at += 2
            end()
          }
          continue
        }
        const [, size] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
        chunked = size === undefined
        if (size !== undefined) missing = Number(size)
        continue
      }
      const take = Math.min(missing, length - at)
      right &&= compared + take <= expected.length && expected.compare(bytes, at, at + take, compared, compared + take) === 0
      compared += take
      at += take
      missing -= take
      if (missing > 0) continue
      if (chunked) missing = undefined
      else end()
    }
  }
}
