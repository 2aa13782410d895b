import { describe, expect, it } from 'vitest'
import { looksPublic } from '../../../platform/outbound/public.ts'
import { readMessages } from '../../../subgraphs/providers/ai/chat/messages.ts'

const inside = [
  'http://169.254.169.254/latest/meta-data',
  'http://10.1.2.3/a.png',
  'http://0x7f.1/',
  'http://2852039166/',
  'http://[::1]/',
  'http://[fd00::1]/a.png',
  'http://[::ffff:192.168.0.9]/a.png',
  'http://localhost:4199/a.png',
  'http://models.localhost./a.png',
  'http://metadata/computeMetadata',
  'https://metadata.google.internal/x',
  'http://printer.local/a.png',
  'http://localhost.localdomain/a.png',
  'https://nas.lan/a.png',
]

describe('an address that is passed to a vendor', () => {
  it.each(inside)('looks public: not %s', address => {
    expect(looksPublic(new URL(address))).toBe(false)
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: address } }] }]
    expect(() => readMessages(messages)).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', extensions: expect.objectContaining({ field: 'messages[0].content[0].image_url' }) }),
    )
  })

  it.each([
    'https://example.com/a.png',
    'http://93.184.216.34/a.png',
    'https://[2606:2800:220:1::1]/a.png',
    'https://localhost.example.com/a.png',
  ])('looks public: %s', address => {
    expect(looksPublic(new URL(address))).toBe(true)
  })
})
