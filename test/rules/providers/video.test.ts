import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { costOf, quotaTables, readQuotaTable } from '../../../subgraphs/providers/engines/video/table.ts'
import { pacificDay } from '../../../subgraphs/providers/video/day.ts'
import { ledBack, pathBelow } from '../../../subgraphs/providers/video/headers.ts'

test.each([
  ['2026-11-22T07:59:59.999Z', '2026-11-21', '2026-11-22T08:00:00.000Z'],
  ['2026-11-22T08:00:00.000Z', '2026-11-22', '2026-11-23T08:00:00.000Z'],
  // Summer time begins on 14 March 2027: that day has 23 hours.
  ['2027-03-14T08:00:00.000Z', '2027-03-14', '2027-03-15T07:00:00.000Z'],
  ['2027-03-15T06:59:59.999Z', '2027-03-14', '2027-03-15T07:00:00.000Z'],
  ['2027-07-01T06:59:59.999Z', '2027-06-30', '2027-07-01T07:00:00.000Z'],
  // It ends on 7 November 2027: that day has 25 hours.
  ['2027-11-07T07:00:00.000Z', '2027-11-07', '2027-11-08T08:00:00.000Z'],
  ['2027-11-08T07:59:59.999Z', '2027-11-07', '2027-11-08T08:00:00.000Z'],
  ['2027-12-31T20:00:00.000Z', '2027-12-31', '2028-01-01T08:00:00.000Z'],
  ['2028-02-28T20:00:00.000Z', '2028-02-28', '2028-02-29T08:00:00.000Z'],
])('at %s it is %s on the Pacific coast, until %s', (now, date, resetsAt) => {
  expect(pacificDay(new Date(now))).toEqual({ date, resetsAt: new Date(resetsAt) })
})

describe('G-09 the quota cost of a call', () => {
  const calls = [
    ['GET', 'youtube/v3/channels', 'channels.list', 'default', 1, 1],
    ['GET', 'youtube/v3/search', 'search.list', 'search.list', 1, 100],
    ['POST', 'upload/youtube/v3/videos', 'videos.insert', 'videos.insert', 1, 1_600],
    ['PUT', 'youtube/v3/videos', 'videos.update', 'default', 50, 50],
    ['DELETE', 'youtube/v3/videos', 'videos.delete', 'default', 50, 50],
    ['POST', 'youtube/v3/videos/rate', 'videos.rate', 'default', 50, 50],
    ['POST', 'upload/youtube/v3/thumbnails/set', 'thumbnails.set', 'default', 50, 50],
    ['POST', 'upload/youtube/v3/captions', 'captions.insert', 'default', 400, 400],
    ['GET', 'youtube/v3/captions/abc', 'captions.list', 'default', 1, 1],
    ['GET', 'youtube/v3/liveChat/messages', 'liveChat.messages', 'default', 1, 1],
    ['POST', 'youtube/v3/somethingNew', 'unknown', 'default', 1, 1],
  ] as const
  test.each(calls)('%s %s is %s', (method, path, called, bucket, units, classic) => {
    expect(costOf(quotaTables[2026], method, path)).toEqual({ method: called, bucket, units })
    expect(costOf(quotaTables.classic, method, path)).toMatchObject({ bucket: 'default', units: classic })
  })

  test('is read from a file, and an incomplete file is rejected', () => {
    const folder = mkdtempSync(join(tmpdir(), 'quota-'))
    const file = join(folder, 'quota.json')
    const write = (table: unknown) => writeFileSync(file, typeof table === 'string' ? table : JSON.stringify(table))
    const one = { bucket: 'all', units: 2 }
    try {
      write({ buckets: { all: 9 }, calls: { list: one, write: one, unknown: one } })
      expect(costOf(readQuotaTable(file), 'GET', 'youtube/v3/videos')).toMatchObject(one)
      for (const [table, sentence] of [
        ['{', 'not JSON'],
        [{ buckets: { all: 9 }, calls: { list: one } }, 'calls needs list, write and unknown'],
        [{ buckets: {}, calls: { list: one, write: one, unknown: one } }, 'a bucket that buckets does not have'],
        [{ buckets: { all: -1 }, calls: { list: one, write: one, unknown: one } }, 'buckets.all'],
      ] as const) {
        write(table)
        expect(() => readQuotaTable(file)).toThrow(sentence)
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
    expect(() => readQuotaTable(file)).toThrow('must be 2026, classic, or a file')
    expect(readQuotaTable('classic')).toBe(quotaTables.classic)
  })
})

test.each([
  ['https://video.test/upload/youtube/v3/videos?upload_id=a', 'http://ours/p/upload/youtube/v3/videos?upload_id=a'],
  ['/upload/youtube/v3/videos?upload_id=a', 'http://ours/p/upload/youtube/v3/videos?upload_id=a'],
  ['https://video.test.evil.test/upload/youtube/v3/videos', null],
  ['https://elsewhere.test/upload/youtube/v3/videos', null],
  ['https://video.test/oauth2/v3/x', null],
  ['javascript:alert(1)', null],
])('the address %s is led back to %s', (location, ours) => {
  expect(ledBack(location, 'https://video.test', 'http://ours/p')).toBe(ours)
})

test.each([
  ['youtube/v3/videos', true],
  ['upload/youtube/v3/thumbnails/set', true],
  ['youtube/v3/', false],
  ['youtube/v3', false],
  ['youtube/v3/a/../../x', false],
  ['youtube/v3/%2e%2e/x', false],
  ['youtube/v3//x', false],
  ['youtube/v2/videos', false],
  ['batch/youtube/v3', false],
  ['upload/upload/youtube/v3/videos', false],
])('%s is passed on: %s', (path, isPassed) => {
  expect(pathBelow(`/providers/platform/youtube/${path}`) !== null).toBe(isPassed)
})
