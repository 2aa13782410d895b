import { describe, expect, test, vi } from 'vitest'
import type { ResolveName } from '../../../platform/outbound/names.ts'
import { createReaches } from '../../../platform/outbound/public.ts'

const names: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['93.184.216.34'],
  'inside.test': ['10.0.0.7', 'fd00::1'],
  'both.test': ['10.0.0.7', '93.184.216.34'],
}
const asked: string[] = []
const resolve: ResolveName = (name, options, done) => {
  asked.push(name)
  const found = names[name]
  if (name === 'silent.test') return
  if (found)
    done(
      null,
      found.slice(0, options.all ? undefined : 1).map(address => ({ address, family: 4 })),
    )
  else done(Object.assign(new Error(name), { code: name === 'late.test' ? 'ETIMEOUT' : 'ENOTFOUND' }), [])
}
const reaches = createReaches(['http://inside.test:8080', 'https://127.0.0.1', 'smtp://10.0.0.9:25'], { resolve })

describe('the check whether a third party may be called', () => {
  test.each([
    ['https://public.test/v1', true],
    ['https://both.test/v1', true],
    ['https://93.184.216.34/v1', true],
    ['http://[2606:2800:220:1::1]/v1', true],
    ['https://inside.test/v1', false],
    ['http://169.254.169.254/v1', false],
    ['http://127.1/v1', false],
    ['http://0x7f000001/v1', false],
    ['http://[::1]:1/v1', false],
    ['http://[::ffff:10.0.0.1]/v1', false],
    ['http://[::ffff:0:127.0.0.1]/v1', false],
    ['http://[4000::1]/v1', false],
    ['http://localhost./v1', false],
    ['http://anything.LocalHost:8080/v1', false],
    ['https://localhost.test/v1', true],
  ])('%s: %s', async (address, may) => {
    expect(await reaches(new URL(address))).toBe(may)
  })

  test('allows a configured private address, at its port only and for any protocol', async () => {
    const each = [
      'http://inside.test:8080/a',
      'http://inside.test:8081',
      'https://127.0.0.1/v1',
      'http://127.0.0.1/v1',
      'http://127.0.0.1:443/v1',
      'https://127.0.0.1:80/v1',
      'http://10.0.0.9:25',
      'http://10.0.0.9',
    ]
    expect(await Promise.all(each.map(address => reaches(new URL(address))))).toEqual([true, false, true, false, true, false, true, false])
  })

  test('allows an unknown name: every connection resolves it again', async () => {
    expect(await reaches(new URL('https://nowhere.test'))).toBe(true)
  })

  test('refuses a host whose DNS does not answer, within three seconds', async () => {
    const refusal = { kind: 'late', sent: false, message: expect.stringContaining('silent.test') }
    vi.useFakeTimers()
    const waiting = expect(reaches(new URL('https://silent.test'))).rejects.toMatchObject(refusal)
    await vi.advanceTimersByTimeAsync(3_000)
    await waiting
    await expect(reaches(new URL('https://late.test'))).rejects.toMatchObject({ kind: 'late', sent: false })
    expect(await reaches(new URL('https://public.test'))).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  test('resolves configured names as the machine does, and allows them only if public', async () => {
    const own = ['http://bucket:9000', 'http://gone:9000', 'https://vendor.test']
    const machine: ResolveName = (name, options, done) => resolve({ bucket: 'inside.test', 'vendor.test': 'public.test' }[name] ?? name, options, done)
    const careful = createReaches([], { resolve, reserved: own, resolveReserved: machine })
    // DNS does not know the first name, yet the client would connect to it.
    expect(await Promise.all([...own, 'http://bucket:9001'].map(address => careful(new URL(address))))).toEqual([false, false, true, true])
  })

  test('does not resolve an IP address as a name', async () => {
    asked.length = 0
    await reaches(new URL('http://[::1]/v1'))
    expect(asked).toEqual([])
  })
})
