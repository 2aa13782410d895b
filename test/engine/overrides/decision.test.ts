import { describe, expect, it } from 'vitest'
import { type DecidedRequest, decideOverrides, readOverrideHeader, readOverrideRules, shareOf } from '../../../router/engine/operation/overrides/decision.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'

const settings = { salt: 'pepper', stickyHeader: 'x-user', header: true }
const rules = (text: object) => readOverrideRules(JSON.stringify(text))
const none = rules({})

const user = (userId: string): Viewer => ({ ...anonymous, kind: 'user', userId })
const request = (headers: Record<string, string> = {}, viewer: Viewer = anonymous): DecidedRequest => ({ viewer, headers: new Headers(headers) })
const isActive = (label: string, from: DecidedRequest, known = none, random?: () => number) => decideOverrides(from, known, settings, random)?.isActive(label)

describe('the share of a viewer', () => {
  it('is the same number from 0 to 100 with at most eight decimals, for the same salt and id', () => {
    const shares = Array.from({ length: 2000 }, (_, n) => shareOf('pepper', `viewer ${n}`))
    for (const share of shares) {
      expect(share).toBeGreaterThanOrEqual(0)
      expect(share).toBeLessThan(100)
      expect(Number(share.toFixed(8))).toBe(share)
    }
    expect(shareOf('pepper', 'viewer 7')).toBe(shares[7])
    expect(new Set(shares).size).toBe(2000)
    // First 48 bits of the SHA-256 of "pepper", a zero byte and "viewer 7": a change here gives every viewer another share.
    expect(shares[7]).toBe(3.25190757)
  })

  it('is spread evenly', () => {
    const below = (percent: number) => Array.from({ length: 10_000 }, (_, n) => shareOf('', String(n))).filter(share => share < percent).length / 100
    for (const percent of [1, 25, 50, 90]) expect(Math.abs(below(percent) - percent)).toBeLessThan(1.5)
  })

  it('differs by salt, and where salt and id are divided elsewhere', () => {
    expect(shareOf('salt', 'viewer')).not.toBe(shareOf('pepper', 'viewer'))
    expect(shareOf('salt', '1viewer')).not.toBe(shareOf('salt1', 'viewer'))
  })
})

describe('percent(N)', () => {
  it('gives one viewer the same answer every time, whichever headers and sessions they have', () => {
    for (let n = 0; n < 50; n++) {
      const first = isActive('percent(50)', request({}, user(`u${n}`)))
      expect(isActive('percent(50)', request({ 'x-user': 'another' }, { ...user(`u${n}`), sessionId: 's', organizationId: 'o' }))).toBe(first)
      expect(first).toBe(shareOf('pepper', `u${n}`) < 50)
    }
  })

  it('only adds viewers when N grows', () => {
    const all = Array.from({ length: 500 }, (_, n) => user(`u${n}`))
    let before = new Set<Viewer>()
    for (const label of ['percent(0)', 'percent(0.5)', 'percent(5)', 'percent(25.25)', 'percent(99.99999999)', 'percent(100)']) {
      const now = new Set(all.filter(viewer => isActive(label, request({}, viewer))))
      for (const viewer of before) expect(now.has(viewer)).toBe(true)
      before = now
    }
    expect(all.some(viewer => isActive('percent(0)', request({}, viewer)))).toBe(false)
    expect(before.size).toBe(500)
  })

  it('goes by the id of a person, else of a key or an app, else by the header that is set for it', () => {
    const ids: [DecidedRequest, string][] = [
      [request({ 'x-user': 'h' }, { ...anonymous, kind: 'service', userId: 'u', appId: 'app' }), 'u'],
      [request({ 'x-user': 'h' }, { ...anonymous, kind: 'apiKey', keyId: 'k' }), 'k'],
      [request({ 'x-user': 'h' }, { ...anonymous, kind: 'service', appId: 'app' }), 'app'],
      [request({ 'X-User': 'h' }), 'h'],
    ]
    for (const [from, id] of ids) {
      const share = shareOf('pepper', id)
      expect(isActive(`percent(${share.toFixed(8)})`, from)).toBe(false)
      expect(isActive(`percent(${(share + 0.00000001).toFixed(8)})`, from)).toBe(true)
    }
  })

  it('is decided by chance for nobody in particular, once a request', () => {
    const drawn = [0.1, 0.9, 0.2, 0.7]
    const random = () => drawn.shift()!
    const answers = Array.from({ length: 4 }, () => {
      const decision = decideOverrides(request(), none, settings, random)!
      return [decision.isActive('percent(50)'), decision.isActive('percent(50)'), decision.isActive('percent(15)')]
    })
    expect(answers).toEqual([
      [true, true, true],
      [false, false, false],
      [true, true, false],
      [false, false, false],
    ])
  })

  it('draws no number where nothing depends on it', () => {
    const never = () => expect.fail('drawn')
    expect(isActive('custom', request(), none, never)).toBe(false)
    expect(isActive('percent(50)', request(), rules({ 'percent(50)': true }), never)).toBe(true)
  })
})

describe('rules of labels', () => {
  it('decide by value, percentage or header, and win over the percentage of the label', () => {
    const known = rules({ always: true, never: false, some: 'percent(30)', trial: { header: 'X-Trial' }, 'percent(100)': false, 'percent(0)': 'percent(100)' })
    const active = (label: string, headers: Record<string, string> = {}) => isActive(label, request(headers), known, () => 0.2)
    expect([active('always'), active('never'), active('some'), active('unknown'), active('percent(100)'), active('percent(0)')]).toEqual([
      true,
      false,
      true,
      false,
      false,
      true,
    ])
    expect(['on', 'true', '1', 'off', 'yes', ''].map(value => active('trial', { 'x-trial': value }))).toEqual([true, true, true, false, false, false])
    expect(active('trial')).toBe(false)
  })

  it.each([
    ['{', 'it is not JSON'],
    ['[]', 'it is not an object of labels and rules'],
    ['null', 'it is not an object of labels and rules'],
    ['{"a": 1}', 'the rule of "a" is none of true, false, "percent(N)" and { "header": "name" }'],
    ['{"a": null}', 'the rule of "a" is none of'],
    ['{"a": "percent(101)"}', 'the rule of "a" is none of'],
    ['{"a": {"header": "x y"}}', 'the rule of "a" is none of'],
    ['{"a": {"header": "x", "value": "on"}}', 'the rule of "a" is none of'],
    ['{"percent(200)": true}', '"percent(200)" cannot be a label of @override'],
    ['{"1a": true}', '"1a" cannot be a label of @override'],
  ])('refuse %s and say what is wrong', (text, message) => {
    expect(() => readOverrideRules(text)).toThrow(message)
  })
})

describe('x-graphql-override', () => {
  it('decides before every rule, for the labels that it names', () => {
    const known = rules({ a: false, b: true, c: true })
    const from = request({ 'x-graphql-override': 'a=on, b = off,percent(5.5)=on,unknown=on,' })
    expect(['a', 'b', 'c', 'percent(5.5)', 'percent(0)'].map(label => isActive(label, from, known))).toEqual([true, false, true, true, false])
  })

  it.each(['a', 'a=', 'a=yes', '=on', 'a=on b=off', 'a=on;b=on', 'a=on,a=off', 'percent(200)=on', 'a=ON'])('is malformed as %s', value => {
    expect(readOverrideHeader(value)).toBeNull()
    expect(decideOverrides(request({ 'x-graphql-override': value }), none, settings)).toBeNull()
  })

  it('is ignored where it is off', () => {
    const closed = { ...settings, header: false }
    expect(decideOverrides(request({ 'x-graphql-override': 'a=on' }), none, closed)?.isActive('a')).toBe(false)
    expect(decideOverrides(request({ 'x-graphql-override': 'nonsense' }), none, closed)).not.toBeNull()
  })
})
