/** Maximum length of a line in bytes, without its line end (RFC 5322, section 2.1.1). */
const maxLine = 998

/**
 * Checks a message against RFC 5322 and RFC 2045 to 2046, as strict mail servers do before they accept it.
 * @returns what is wrong, in a sentence; null when the message is valid
 */
export function mistakeInMime(raw: Buffer): string | null {
  for (let begin = 0; begin < raw.length; ) {
    const end = raw.indexOf('\n', begin)
    const line = end === -1 ? raw.length - begin : end - begin
    if (end !== -1 && raw[end - 1] !== 0x0d) return 'a line ends without CR'
    if (line - (end === -1 ? 0 : 1) > maxLine) return `a line has more than ${maxLine} bytes`
    begin = end === -1 ? raw.length : end + 1
  }
  const text = raw.toString('latin1')
  const [head = ''] = text.split('\r\n\r\n', 1)
  const type = /^content-type:\s*((?:[^\r]|\r\n[ \t])*)/im.exec(head)?.[1] ?? ''
  if (!/^multipart\//i.test(type)) return null
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type.replace(/\r\n(?=[ \t])/g, ''))
  const name = boundary?.[1] ?? boundary?.[2]
  if (name === undefined) return 'a message of several parts names no boundary'
  if (!text.includes(`\r\n--${name}\r\n`) || !text.includes(`\r\n--${name}--`)) return 'a message of several parts does not end its last part'
  return checkParts(text, name)
}

/** Whether parts in base64 are base64. */
function checkParts(text: string, boundary: string): string | null {
  for (const part of text.split(`\r\n--${boundary}`).slice(1, -1)) {
    const at = part.indexOf('\r\n\r\n')
    if (at === -1) return 'a part has no end of its headers'
    if (!/^content-transfer-encoding:\s*base64\s*$/im.test(part.slice(0, at))) continue
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(part.slice(at).replaceAll('\r\n', ''))) return 'a part in base64 is none'
  }
  return null
}
