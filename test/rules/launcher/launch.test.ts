import { describe, expect, it } from 'vitest'
import { codeOf } from '../../../platform/errors.ts'
import {
  addressOfApp,
  failureOf,
  handoffFailure,
  maxAMinute,
  pathOfItem,
  phoneOf,
  readReturnTo,
  reporting,
  secondsUntil,
  stepsWithCode,
  tooMany,
} from '../../../subgraphs/launcher/launch/rules.ts'
import type { LaunchRow } from '../../../subgraphs/launcher/stores/launch.ts'

const now = new Date('2026-03-02T09:00:00.000Z')
const later = (ms: number) => new Date(now.getTime() + ms)
const entry = { app: 'publishing', title: 'Publishing', kind: 'APPLICATION', lifecycle: 'ACTIVE' } as const
const fine = { isInstalled: true, isEntitled: true, hasSeat: true, maintainedUntil: null }

describe('failureOf', () => {
  it('is null for an installed app that the plan includes', () => {
    expect(failureOf(entry, fine)).toBeNull()
  })

  it.each([
    ['NOT_LAUNCHABLE', { ...entry, kind: 'TECHNICAL' }, { ...fine, isInstalled: false }],
    ['NOT_LAUNCHABLE', { ...entry, lifecycle: 'RETIRED' }, fine],
    ['NOT_INSTALLED', entry, { ...fine, isInstalled: false, isEntitled: false, maintainedUntil: later(1) }],
    ['NO_SEAT', entry, { ...fine, hasSeat: false, maintainedUntil: later(1) }],
    ['NOT_ENTITLED', entry, { ...fine, isEntitled: false, maintainedUntil: later(1) }],
    ['MAINTENANCE', entry, { ...fine, maintainedUntil: later(1) }],
  ] as const)('names %s as the first obstacle', (code, app, standing) => {
    expect(failureOf(app, standing)).toMatchObject({ code, retryable: code === 'MAINTENANCE' })
  })
})

describe('tooMany', () => {
  it('begins with the launch after the maximum and ends a minute after the first of them', () => {
    expect(tooMany({ made: maxAMinute - 1, limited: 0, since: later(-1000) }, now)).toBeNull()
    expect(tooMany({ made: maxAMinute, limited: 0, since: later(-1000) }, now)).toMatchObject({ code: 'RATE_LIMITED', retryAt: later(59_000) })
  })

  it('throws RATE_LIMITED once as many refused ones are kept', () => {
    const attempt = () => tooMany({ made: maxAMinute, limited: maxAMinute, since: later(-1000) }, now)
    expect(attempt).toThrow(expect.objectContaining({ extensions: { code: 'RATE_LIMITED', retryAfter: 59 } }))
  })
})

describe('handoffFailure', () => {
  const of = (extensions: object) => handoffFailure(Object.assign(new Error('no'), { extensions }), 'Publishing', 'organization', now)

  it.each([
    [{ code: 'CONFLICT', reason: 'CONTEXT' }, 'CONTEXT', false],
    [{ code: 'CONFLICT', reason: 'NOT_LAUNCHABLE' }, 'NOT_LAUNCHABLE', false],
    [{ code: 'NOT_FOUND' }, 'NOT_LAUNCHABLE', false],
    [{ code: 'CONFLICT', reason: 'EXTERNAL_ISSUER' }, 'HANDOFF_FAILED', false],
    [{ code: 'BAD_USER_INPUT', field: 'sessionId' }, 'HANDOFF_FAILED', false],
    [{ code: 'UPSTREAM_FAILED' }, 'HANDOFF_FAILED', true],
  ])('translates %j to %s', (extensions, code, retryable) => {
    expect(of(extensions)).toMatchObject({ code, retryable, retryAt: null })
  })

  it('says when to try again after identity’s own limit', () => {
    expect(of({ code: 'RATE_LIMITED', retryAfter: 7 })).toMatchObject({ code: 'RATE_LIMITED', retryAt: later(7000) })
  })

  it('is retryable for an error without a code', () => {
    expect(handoffFailure(new Error('socket'), 'Publishing', 'organization', now)).toMatchObject({ code: 'HANDOFF_FAILED', retryable: true })
  })
})

describe('secondsUntil', () => {
  it('rounds up, and is null once the moment has come', () => {
    expect([secondsUntil(later(1), now), secondsUntil(later(1001), now), secondsUntil(now, now), secondsUntil(null, now)]).toEqual([1, 2, null, null])
  })
})

describe('readReturnTo', () => {
  it('takes a path of the app', () => {
    expect([readReturnTo('/posts?status=failed'), readReturnTo(null), readReturnTo('/')]).toEqual(['/posts?status=failed', null, '/'])
  })

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', 'posts', '', `/${'x'.repeat(2000)}`])('refuses %j', path => {
    expect(() => readReturnTo(path)).toThrow(expect.objectContaining({ extensions: { code: 'BAD_USER_INPUT', field: 'returnTo' } }))
  })
})

describe('pathOfItem', () => {
  it.each([
    ['http://localhost:4000/publishing/posts/1?x=2', 'publishing', '/posts/1?x=2'],
    ['https://publishing.example/posts/1', 'publishing', '/posts/1'],
    ['http://localhost:4000/publishing-more/1', 'publishing', '/publishing-more/1'],
    ['http://localhost:4000//evil.example', 'publishing', null],
    ['no address', 'publishing', null],
  ])('leads from %s of %s to %s', (url, app, path) => {
    expect(pathOfItem(url, app)).toBe(path)
  })
})

describe('stepsWithCode', () => {
  const coded = { serviceId: 'id', code: 'code', callbackUrl: 'https://app.example/callback?sso_code=code' }

  it('prefers the native app, then its store, then the page; all of them with one code', () => {
    expect(stepsWithCode(coded, { storeUrl: 'https://store.example/1' }, 'https://launcher.example')).toEqual([
      { kind: 'UNIVERSAL_LINK', url: 'https://launcher.example/launch/id?code=code' },
      { kind: 'APP_STORE', url: 'https://store.example/1' },
      { kind: 'WEB', url: coded.callbackUrl },
    ])
  })

  it('leaves the store out for a native app that is in none, and both for a platform without one', () => {
    const kinds = (build: Parameters<typeof stepsWithCode>[1]) => stepsWithCode(coded, build, 'https://launcher.example').map(({ kind }) => kind)
    expect([kinds({ storeUrl: null }), kinds(undefined)]).toEqual([['UNIVERSAL_LINK', 'WEB'], ['WEB']])
  })
})

describe('addressOfApp', () => {
  const [launchUrl, initiateLoginUri] = ['https://app.example/home/', 'https://login.example/begin?tenant=1']

  it('begins a sign-in where the app has one, with our issuer and the page to open', () => {
    expect(addressOfApp({ launchUrl, initiateLoginUri }, '/board?x=1', 'https://us.example')).toBe(
      'https://login.example/begin?tenant=1&iss=https%3A%2F%2Fus.example&target_link_uri=https%3A%2F%2Fapp.example%2Fboard%3Fx%3D1',
    )
  })

  it('opens the page of an app without a sign-in, and nothing of one without an address', () => {
    expect(addressOfApp({ launchUrl, initiateLoginUri: null }, null, 'https://us.example')).toBe(launchUrl)
    expect(addressOfApp({ launchUrl: null, initiateLoginUri: null }, null, 'https://us.example')).toBeNull()
  })

  it('takes the origin of the sign-in for an app without a page', () => {
    const address = addressOfApp({ launchUrl: null, initiateLoginUri }, null, 'https://us.example')
    expect(new URL(address!).searchParams.get('target_link_uri')).toBe('https://login.example/')
  })
})

describe('phoneOf', () => {
  it.each([
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)', 'IOS'],
    ['Mozilla/5.0 (iPad; CPU OS 19_0 like Mac OS X)', 'IOS'],
    ['Mozilla/5.0 (Linux; Android 16; Pixel 9)', 'ANDROID'],
    ['Mozilla/5.0 (X11; Linux x86_64)', null],
    [null, null],
  ])('reads %s as %s', (agent, phone) => {
    expect(phoneOf(agent)).toBe(phone)
  })
})

describe('reporting', () => {
  const ready = { status: 'READY', title: 'Publishing', failureCode: null, failureMessage: null } as LaunchRow

  it('takes the first report', () => {
    expect(reporting(ready, 'OPENED', null)).toEqual({ status: 'OPENED' })
    expect(reporting(ready, 'FAILED', 'no app')).toMatchObject({ status: 'FAILED', failureCode: 'CLIENT_FAILED', failureMessage: 'no app' })
  })

  it('changes nothing when the same is reported again', () => {
    expect(reporting({ ...ready, status: 'OPENED' }, 'OPENED', null)).toEqual({})
    const lost = { ...ready, ...reporting(ready, 'FAILED', 'no app') } as LaunchRow
    expect(reporting(lost, 'FAILED', 'no app')).toEqual({})
  })

  it.each([
    ['another outcome', { ...ready, status: 'OPENED' }, 'FAILED', null],
    ['another message', { ...ready, status: 'FAILED', failureCode: 'CLIENT_FAILED', failureMessage: 'one' }, 'FAILED', 'two'],
    ['a launch that failed before it reached the client', { ...ready, status: 'FAILED', failureCode: 'NOT_INSTALLED', failureMessage: 'x' }, 'FAILED', 'x'],
  ] as const)('refuses %s with CONFLICT', (_, launch, outcome, message) => {
    expect(() => reporting(launch as LaunchRow, outcome, message)).toThrow(expect.objectContaining({ extensions: { code: 'CONFLICT', reason: 'DECIDED' } }))
  })

  it('refuses a message for a launch that succeeded', () => {
    try {
      reporting(ready, 'OPENED', 'why')
      expect.unreachable()
    } catch (error) {
      expect(codeOf(error)).toBe('BAD_USER_INPUT')
    }
  })
})
