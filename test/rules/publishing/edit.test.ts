import { describe, expect, test } from 'vitest'
import type { WayOut } from '../../../platform/outbound/outbound.ts'
import type { Network, Networks } from '../../../subgraphs/publishing/network/network.ts'
import { open } from '../../../subgraphs/publishing/network/x/adapter.ts'
import { type Around, edit } from '../../../subgraphs/publishing/post/change.ts'
import { checkCopy, checkMoment, checkSchedule, checkTarget, longestCopy } from '../../../subgraphs/publishing/post/rules.ts'
import { checkVersion } from '../../../subgraphs/store/write.ts'
import { refusalOf } from '../refusal.ts'
import { inMs, now, postRow } from './post-row.ts'

const nowhere = () => Promise.reject(new Error('rules ask nobody'))
const x: Network = open(
  { clientId: 'id', clientSecret: 'secret', authorizeUrl: 'http://x.test/authorize', apiUrl: 'http://x.test', legacyApiUrl: 'http://x.test' },
  nowhere as unknown as WayOut,
)
const networks: Networks = new Map([['X', x]])
const around: Around = { networks, mode: 'NONE', connections: [], media: new Map() }
const later = inMs(60_000)
const scheduled = postRow({ status: 'SCHEDULED', scheduledAt: later })
const failed = postRow({ status: 'FAILED', scheduledAt: inMs(-1), failureCode: 'NO_CONNECTION', failureMessage: 'no', failedAt: now })

describe('P-04 editing a post', () => {
  test('changes the given fields and leaves the rest', () => {
    expect(edit(scheduled, { copy: 'New' }, now, around)).toMatchObject({ copy: 'New', target: null, status: 'SCHEDULED', scheduledAt: later })
  })

  test('that clears the schedule reverts to a draft without a time', () => {
    expect(edit(scheduled, { scheduledAt: null }, now, around)).toMatchObject({ status: 'DRAFT', scheduledAt: null, copy: 'Hello' })
  })

  test('that sets a time schedules a draft', () => {
    expect(edit(postRow(), { scheduledAt: later }, now, around)).toMatchObject({ status: 'SCHEDULED', scheduledAt: later })
  })

  test('P-09 clears the failure when it sets or clears the time; otherwise it stays', () => {
    const none = { failureCode: null, failureMessage: null, failedAt: null }
    expect(edit(failed, { scheduledAt: later }, now, around)).toMatchObject({ ...none, status: 'SCHEDULED' })
    expect(edit(failed, { scheduledAt: null }, now, around)).toMatchObject({ ...none, status: 'DRAFT' })
    expect(edit(failed, { copy: 'Other' }, now, around)).not.toHaveProperty('failureCode')
  })

  test('keeps an omitted target, replaces a given one, and removes it for null', () => {
    const target = { kind: 'PAGE' as const, externalId: '1', name: 'One' }
    const post = postRow({ platform: 'FACEBOOK', target })
    expect(edit(post, { copy: 'New' }, now, around).target).toEqual(target)
    const other = { ...target, externalId: '2' }
    expect(edit(post, { target: other }, now, around).target).toEqual(other)
    expect(edit(post, { target: null }, now, around).target).toBe(null)
  })

  test('of a scheduled text is held to the network’s rules, of a draft it is not', () => {
    expect(refusalOf(() => edit(scheduled, { copy: 'x'.repeat(281) }, now, around)).extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'copy' })
    expect(edit(postRow(), { copy: 'x'.repeat(281) }, now, around).status).toBe('DRAFT')
    expect(edit(scheduled, { copy: 'x'.repeat(281), scheduledAt: null }, now, around).status).toBe('DRAFT')
  })

  test('is CONFLICT for a published post before anything else is checked', () => {
    const published = postRow({ status: 'PUBLISHED', publishedAt: now, platformPostId: '1' })
    for (const change of [{ copy: 'x' }, { scheduledAt: inMs(-1) }, { scheduledAt: null }])
      expect(refusalOf(() => edit(published, change, now, around)).code).toBe('CONFLICT')
  })

  test('against another version is CONFLICT with the present one', () => {
    expect(refusalOf(() => checkVersion(3, 2, 'post')).extensions).toEqual({
      code: 'CONFLICT',
      reason: 'STALE_VERSION',
      version: 3,
    })
    expect(() => checkVersion(3, 3, 'post')).not.toThrow()
    for (const absent of [null, undefined]) expect(() => checkVersion(3, absent, 'post')).not.toThrow()
    expect(refusalOf(() => checkVersion(3, 4, 'post')).message).toContain('post')
    expect(refusalOf(() => checkVersion(3, 4, 'brand')).message).toContain('brand')
  })
})

describe('a scheduled time', () => {
  test('is in the future: not now, not before, and one millisecond suffices', () => {
    for (const at of [inMs(-3600_000), inMs(-1), now])
      expect(refusalOf(() => checkSchedule(at, now)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'scheduledAt' })
    expect(checkSchedule(inMs(1), now)).toEqual(inMs(1))
  })

  test('is a moment', () => {
    expect(refusalOf(() => checkSchedule(new Date(Number.NaN), now)).extensions.field).toBe('scheduledAt')
  })

  test.each([
    ['3027-12-31T23:59:59.999Z', true],
    ['3028-01-01T00:00:00.000Z', false],
    ['+012027-03-01T00:00:00.000Z', false],
    ['1027-01-01T00:00:00.000Z', true],
    ['1026-12-31T23:59:59.999Z', false],
  ])('lies in a year that is at most a thousand from this one: %s, %s', (at, taken) => {
    const moment = new Date(at)
    if (taken) expect(checkMoment(moment, now)).toBe(moment)
    else expect(refusalOf(() => checkMoment(moment, now)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'scheduledAt' })
  })

  test('needs content, and a supported network', () => {
    expect(refusalOf(() => edit(postRow({ copy: ' \n' }), { scheduledAt: later }, now, around)).extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'copy',
    })
    expect(refusalOf(() => edit(postRow({ platform: 'LINKEDIN' }), { scheduledAt: later }, now, around)).extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'platform',
    })
  })
})

describe('a stored text and target', () => {
  test('a text is Unicode without NUL, of 63,206 characters at most', () => {
    for (const copy of [null, undefined, 'a\0b', 'a\ud83d', 'x'.repeat(63_207)])
      expect(refusalOf(() => checkCopy(copy)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'copy' })
    expect(checkCopy('x'.repeat(longestCopy))).toHaveLength(longestCopy)
    expect(checkCopy('')).toBe('')
  })

  test('a target has a kind that the network supports, with an id', () => {
    const page = { kind: 'PAGE' as const, externalId: '1', name: null }
    expect(checkTarget(page, 'FACEBOOK')).toBe(page)
    expect(checkTarget(null, 'X')).toBe(null)
    for (const platform of ['X', 'INSTAGRAM', 'LINKEDIN_PAGE'] as const)
      expect(refusalOf(() => checkTarget(page, platform)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'target' })
    expect(refusalOf(() => checkTarget(page, 'INSTAGRAM')).message).toContain('PHOTO_ACCOUNT')
  })

  test.each([
    ['an id of 200 characters', { externalId: 'x'.repeat(200), name: null }],
    ['a name of 200 characters', { externalId: '1', name: 'x'.repeat(200) }],
    ['an empty name', { externalId: '1', name: '' }],
  ])('a target takes %s', (_what, words) => {
    const target = { kind: 'PAGE' as const, ...words }
    expect(checkTarget(target, 'FACEBOOK')).toBe(target)
  })

  test.each([
    ['externalId', 'nothing', ''],
    ['externalId', 'blanks', '  '],
    ['externalId', '201 characters', 'x'.repeat(201)],
    ['externalId', 'NUL', 'a\0b'],
    ['externalId', 'half a character', 'a\ud83d'],
    ['name', '201 characters', 'x'.repeat(201)],
    ['name', 'NUL', 'a\0b'],
    ['name', 'half a character', 'a\ud83d'],
  ])('the %s of a target is not %s', (field, _what, words) => {
    const target = { kind: 'PAGE' as const, externalId: '1', name: null, [field]: words }
    expect(refusalOf(() => checkTarget(target, 'FACEBOOK')).extensions).toEqual({ code: 'BAD_USER_INPUT', field: `target.${field}` })
  })
})

test('a time for an unsupported network is rejected with who can change that', () => {
  const nowhere = { ...around, networks: new Map() }
  const refused = (platform: 'X') => refusalOf(() => edit(postRow({ platform }), { scheduledAt: later }, now, nowhere)).message
  expect(refused('X')).toMatch(/^Posts for X cannot be scheduled here: no application is set up for it\. The operator has to set .* draft\.$/)
})
