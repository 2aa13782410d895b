import { describe, expect, test } from 'vitest'
import { heard, heardOf, inOneLine, isKeepable } from '../../../subgraphs/publishing/delivery/heard.ts'
import type { Delivery } from '../../../subgraphs/publishing/network/publication.ts'

const delivered = (platformPostId: unknown, permalink: unknown = 'https://x.com/a/status/1') =>
  ({ outcome: 'delivered', platformPostId, permalink }) as Delivery

describe('P-10 a network’s answer is stored if it is plausible', () => {
  test.each(['1', '1830:2', 'urn:li:share:7', '17841_5', 'v_pub_url~v2.1'])('a post under the id %j is delivered', id => {
    expect(heard(delivered(id))).toEqual(delivered(id))
    expect(heardOf({ found: true, platformPostId: id, permalink: '' })).toEqual({ found: true, platformPostId: id, permalink: '' })
  })

  test.each([1830, null, {}, '', 'a\0b', 'a b', 'y'.repeat(201), 'é'])('one under %j is in doubt, and asked for again where it is listed', id => {
    expect(heard(delivered(id))).toMatchObject({ outcome: 'unknown' })
    expect(() => heardOf({ found: true, platformPostId: id as string, permalink: '' })).toThrow('an id that can be none')
  })

  test.each(['javascript:alert(1)', 7, null, 'not an address', `https://x.com/${'a'.repeat(2_000)}`])('an address like %j is none', permalink => {
    expect(heard(delivered('1', permalink))).toMatchObject({ outcome: 'delivered', permalink: '' })
  })

  test('with its message as one line of storable characters', () => {
    expect(heard({ outcome: 'refused', code: 'NETWORK_REFUSED', detail: 'a\0b\r\nc\ud800' })).toMatchObject({ outcome: 'refused', detail: 'a b c\ufffd' })
    expect([inOneLine('x'.repeat(900)).length, inOneLine({ toString: () => 'odd' })]).toEqual([500, 'odd'])
    expect([isKeepable({ mediaIds: ['1'] }), isKeepable({ mediaIds: ['a\0b'] })]).toEqual([true, false])
  })
})
