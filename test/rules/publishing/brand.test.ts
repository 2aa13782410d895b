import { describe, expect, test } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { archive, editBrand, longest, readDescription, readName } from '../../../subgraphs/publishing/brand/rules.ts'
import { type BrandRow, requireInUse } from '../../../subgraphs/publishing/stores/brand.ts'
import { activeOrganization } from '../../../subgraphs/viewer.ts'
import { anonymous, key, person, personally } from '../../kit/viewers.ts'
import { refusalOf } from '../refusal.ts'
import { inMs, now } from './post-row.ts'

const brand: BrandRow = {
  id: 'brand',
  organizationId: 'acme',
  name: 'Anvils',
  description: 'Heavy',
  archivedAt: null,
  timeZone: 'UTC',
  approvalMode: 'NONE',
  approverIds: [],
  pausedAt: null,
  version: 1,
  createdAt: now,
  updatedAt: now,
  createdBy: 'user:ada',
}
const archived = { ...brand, archivedAt: inMs(-1) }
const approver = newId(now)
const ada = person('ada', 'acme', ['viewer'])

describe('a brand’s organization', () => {
  test('must be active', () => {
    expect([ada, key('acme', [])].map(viewer => activeOrganization(viewer, 'Brands'))).toEqual(['acme', 'acme'])
    for (const viewer of [personally(ada), anonymous]) {
      const { code, message } = refusalOf(() => activeOrganization(viewer, 'Brands'))
      expect([code, message]).toEqual(['FORBIDDEN', expect.stringContaining('Brands')])
    }
  })
})

describe('texts of a brand', () => {
  test('a name has 1 to 80 user-perceived characters after trimming', () => {
    for (const name of ['A', 'x'.repeat(longest.name), '😀'.repeat(80), 'مخبز', 'نان\u200cوایی', '👩\u200d🍳']) expect(readName(` ${name}\n`)).toBe(name)
  })

  test.each([
    ['nothing', ''],
    ['blanks', ' \n'],
    ['null', null],
    ['undefined', undefined],
    ['81 letters', 'x'.repeat(81)],
    ['81 emoji', '😀'.repeat(81)],
    ['NUL', 'a\0b'],
    ['half a character', 'a\ud83d'],
    ['a line break', 'a\nb'],
    ['another line break', 'a\u2028b'],
    ['a control character of the second row', 'a\u0085b'],
    ['DEL', 'a\u007fb'],
    ['a mark that turns what follows', 'a\u202eb'],
    ['an isolate', 'a\u2066b'],
    ['the last isolate', 'a\u2069b'],
    ['a mark of direction', 'a\u200fb'],
    ['an Arabic mark', 'a\u061cb'],
  ])('a name is not %s', (_what, name) => {
    expect(refusalOf(() => readName(name)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'name' })
  })

  test('a description has 2000 characters at most, and is null when empty', () => {
    for (const words of ['A', 'two\nlines', 'x'.repeat(longest.description), '😀'.repeat(2000)]) expect(readDescription(` ${words} `)).toBe(words)
    for (const none of ['', ' \n', null, undefined]) expect(readDescription(none)).toBe(null)
  })

  test.each([
    ['2001 letters', 'x'.repeat(2001)],
    ['NUL', 'a\0b'],
    ['half a character', 'a\ud83d'],
  ])('a description is not %s', (_what, description) => {
    expect(refusalOf(() => readDescription(description)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'description' })
  })
})

describe('editing a brand', () => {
  test.each([
    ['the name alone', { name: 'Hammers' }, { name: 'Hammers' }],
    ['the description alone', { description: ' Light ' }, { description: 'Light' }],
    ['both', { name: ' Hammers ', description: 'Light' }, { name: 'Hammers', description: 'Light' }],
    ['away the description', { description: null }, { description: null }],
    ['the zone', { timeZone: ' europe/berlin' }, { timeZone: 'Europe/Berlin' }],
    ['who approves, each once', { approverIds: [approver.toUpperCase(), approver] }, { approverIds: [approver] }],
    ['whether somebody approves', { approvalMode: 'REQUIRED' as const }, { approvalMode: 'REQUIRED' }],
  ])('changes %s', (_what, edit, changes) => expect(editBrand(brand, edit)).toEqual(changes))

  test.each([
    ['mentions nothing', {}],
    ['leaves out what it names', { name: undefined, description: undefined }],
    ['says what is there', { name: 'Anvils', description: 'Heavy' }],
    ['says what is there with blanks around it', { name: ' Anvils ', description: ' Heavy\n' }],
  ])('that %s changes nothing', (_what, edit) => expect(editBrand(brand, edit)).toEqual({}))

  test.each(['+02:00', 'Mars/Base', '', 'UTC+1', 'Europe'])('takes no zone that is none: %s', timeZone => {
    expect(refusalOf(() => editBrand(brand, { timeZone })).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'timeZone' })
  })

  test('accepts at most 50 approvers, and no null mode', () => {
    const many = Array.from({ length: 51 }, () => newId(now))
    expect(refusalOf(() => editBrand(brand, { approverIds: many })).extensions.field).toBe('approverIds')
    expect(refusalOf(() => editBrand(brand, { approvalMode: null })).extensions.field).toBe('approvalMode')
  })

  test('cannot remove the name', () => {
    expect(refusalOf(() => editBrand(brand, { name: null })).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'name' })
  })
})

describe('an archived brand', () => {
  const inArchive = { code: 'CONFLICT', reason: 'BRAND_ARCHIVED' }

  test('accepts no change, unlike an active one', () => {
    expect(refusalOf(() => requireInUse(archived)).extensions).toEqual(inArchive)
    for (const edit of [{}, { name: 'Hammers' }, { name: '' }]) expect(refusalOf(() => editBrand(archived, edit)).extensions).toEqual(inArchive)
    expect(() => requireInUse(brand)).not.toThrow()
  })

  test('is archived once, at a stored time, when none of its posts is scheduled', () => {
    expect(archive(brand, 0, now)).toEqual({ archivedAt: now })
    expect(archive(archived, 0, now)).toEqual({})
    expect(archive(archived, 3, now)).toEqual({})
  })

  test.each([1, 2, 50])('is not archived while posts of it are scheduled: %i', scheduled => {
    expect(refusalOf(() => archive(brand, scheduled, now)).extensions).toEqual({ code: 'CONFLICT', reason: 'POSTS_SCHEDULED', scheduled })
  })

  test('reports how many posts prevent archiving', () => {
    expect(refusalOf(() => archive(brand, 50, now)).message).toContain('50')
    expect(refusalOf(() => archive(brand, 1, now)).message).not.toContain('1')
  })
})
