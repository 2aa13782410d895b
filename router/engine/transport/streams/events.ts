/** One server-sent event. */
export interface ServerSentEvent {
  /** @default message */
  readonly event: string
  readonly data: string
  /** Length of the event as it was sent, in characters. */
  readonly length: number
}

/** Receives the bytes of a body as they arrive. */
export interface BodyReader {
  /** @throws Error when a message is longer than allowed */
  read(chunk: Uint8Array): void
}

/**
 * Reads server-sent events (HTML standard, section 9.2.6), without ids and retry times, which subscriptions do not use.
 * Comments, and events without data and a name, are passed over; so is an event that the end of the body cuts off.
 */
export function createEventReader(mostCharacters: number, take: (event: ServerSentEvent) => void): BodyReader {
  let event = ''
  let data: string[] = []
  let length = 0
  return createLineReader(mostCharacters, line => {
    length += line.length + 1
    if (length > mostCharacters) throw new Error(`an event has more than ${mostCharacters} characters`)
    if (line === '') {
      if (data.length > 0 || event) take({ event: event || 'message', data: data.join('\n'), length })
      event = ''
      data = []
      length = 0
      return
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') event = value
    if (field === 'data') data.push(value)
  })
}

/** Pieces of a line that are joined at once: a server may send single bytes. */
const mostPieces = 1024

/** Reads lines that end with CRLF, LF or CR. */
function createLineReader(mostCharacters: number, take: (line: string) => void): BodyReader {
  const decoder = new TextDecoder()
  /** The line that has begun: texts of many pieces each, and the latest pieces. */
  let packed: string[] = []
  let pieces: string[] = []
  let length = 0
  let wasReturn = false
  return {
    read(chunk) {
      const decoded = decoder.decode(chunk, { stream: true })
      if (decoded === '') return
      // It belongs to the CR that ended the line before.
      const text = wasReturn && decoded[0] === '\n' ? decoded.slice(1) : decoded
      wasReturn = text.endsWith('\r')
      let from = 0
      for (const { 0: end, index } of text.matchAll(/\r\n|\r|\n/g)) {
        const line = [...packed, ...pieces, text.slice(from, index)].join('')
        packed = []
        pieces = []
        length = 0
        from = index + end.length
        take(line)
      }
      if (from === text.length) return
      length += text.length - from
      if (length > mostCharacters) throw new Error(`a line has more than ${mostCharacters} characters`)
      if (pieces.push(text.slice(from)) < mostPieces) return
      packed.push(pieces.join(''))
      pieces = []
    },
  }
}
