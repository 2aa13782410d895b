import { describe, expect, test } from 'vitest'
import {
  bytesOf,
  type Content,
  type ContentMedium,
  codePoints,
  emojiAsBytes,
  problemsOf,
  withLink,
} from '../../../subgraphs/publishing/network/content/check.ts'
import type { Platform } from '../../../subgraphs/publishing/network/network.ts'
import { everyNetwork } from '../../../subgraphs/publishing/network/networks.ts'
import type { MediumKind } from '../../../subgraphs/publishing/network/publication.ts'

const medium = (kind: MediumKind, more: Partial<ContentMedium> = {}): ContentMedium => ({ kind, durationMs: null, isReady: true, altText: 'A square', ...more })
const some = (count: number, kind: MediumKind): ContentMedium[] => Array.from({ length: count }, () => medium(kind))
const link = 'https://shop.example.com/sale/autumn'
const links = (count: number): string => Array.from({ length: count }, (_, at) => `https://example.com/${at}`).join(' ')
const marks = (mark: string, count: number): string => Array.from({ length: count }, (_, at) => `${mark}name${at}`).join(' ')
const codes = (platform: Platform, post: Partial<Content>): string[] =>
  problemsOf(everyNetwork[platform], { copy: 'Hello', link: null, tags: [], title: null, firstComment: null, media: [], isLater: false, ...post }).map(
    ({ code }) => code,
  )

describe('how long a text is', () => {
  test.each([
    ['é👍', 2, 6, 5],
    ['日本', 2, 6, 2],
    ['👨‍👩‍👧', 5, 18, 18],
    ['1#', 2, 2, 2],
    ['', 0, 0, 0],
  ])('%s: in code points, in bytes, as Threads counts', (text, points, bytes, threads) => {
    expect([codePoints(text), bytesOf(text), emojiAsBytes(text)]).toEqual([points, bytes, threads])
  })
})

describe('a network’s check of a post', () => {
  test.each<[Platform, Partial<Content>, string[]]>([
    ['X', { copy: '' }, ['COPY_EMPTY']],
    ['X', { copy: '', media: some(1, 'IMAGE') }, []],
    ['X', { copy: 'x'.repeat(281) }, ['COPY_TOO_LONG']],
    ['X', { copy: 'a\uFFFEb' }, ['COPY_INVALID']],
    ['X', { media: some(5, 'IMAGE') }, ['MEDIA_TOO_MANY']],
    ['X', { media: some(2, 'GIF') }, ['MEDIA_TOO_MANY']],
    ['X', { media: [medium('IMAGE'), medium('GIF')] }, ['MEDIA_MIXED']],
    ['X', { media: [medium('VIDEO'), medium('IMAGE')] }, ['MEDIA_MIXED']],
    ['X', { media: [medium('VIDEO', { durationMs: 140_000 })] }, []],
    ['X', { media: [medium('VIDEO', { durationMs: 140_001 })] }, ['MEDIA_DURATION']],
    ['X', { firstComment: 'First' }, []],
    ['X', { firstComment: ' Hello' }, ['COPY_INVALID']],
    ['FACEBOOK', { firstComment: 'Hello' }, []],
    ['X', { copy: 'Buy $TSLA' }, []],
    ['X', { copy: 'Buy $TSLA and $AAPL' }, ['COPY_INVALID']],
    ['X', { media: [medium('IMAGE', { isAnimated: true })] }, ['MEDIA_STILL']],
    ['X', { media: [medium('GIF', { bytes: 15_000_001 })] }, ['MEDIA_TOO_LARGE']],
    ['FACEBOOK', { media: [medium('GIF', { bytes: 4_000_001 }), medium('GIF', { bytes: 5_000_000 })] }, ['MEDIA_TOO_LARGE']],
    ['X', { media: [medium('VIDEO', { bytes: 512_000_001 })] }, ['MEDIA_TOO_LARGE']],
    ['LINKEDIN', { media: [medium('VIDEO', { bytes: 500_000_001 })] }, ['MEDIA_TOO_LARGE']],
    ['LINKEDIN', { media: [medium('VIDEO', { bytes: 74_999 })] }, ['MEDIA_KIND']],
    [
      'INSTAGRAM',
      { media: [medium('VIDEO', { bytes: 300_000_001, durationMs: 2_999, videoCodec: 'av01' })] },
      ['MEDIA_TOO_LARGE', 'MEDIA_DURATION', 'MEDIA_KIND'],
    ],
    ['YOUTUBE', { title: 'A film', media: [medium('VIDEO', { bytes: 1_073_741_824, durationMs: 43_200_001 })] }, ['MEDIA_DURATION']],
    ['FACEBOOK', { copy: 'x'.repeat(63_207), media: [medium('IMAGE', { isAnimated: true })] }, ['COPY_TOO_LONG', 'MEDIA_STILL']],
    ['YOUTUBE', { title: 'A film', media: [medium('IMAGE', { isAnimated: true })] }, ['MEDIA_KIND']],
    ['LINKEDIN', { copy: 'x'.repeat(3001) }, ['COPY_TOO_LONG']],
    ['LINKEDIN', { media: [medium('IMAGE'), medium('GIF')] }, []],
    ['LINKEDIN', { media: [medium('GIF'), medium('VIDEO')] }, ['MEDIA_MIXED']],
    ['LINKEDIN', { firstComment: 'First' }, ['FIRST_COMMENT_UNSUPPORTED']],
    ['LINKEDIN', { isLater: true, media: some(1, 'IMAGE') }, []],
    ['LINKEDIN_PAGE', { isLater: true, media: some(1, 'IMAGE') }, ['THREAD_MEDIA']],
    ['LINKEDIN_PAGE', { copy: 'x'.repeat(1251) }, []],
    ['LINKEDIN_PAGE', { copy: 'x'.repeat(1251), isLater: true }, ['COPY_TOO_LONG']],
    ['LINKEDIN_PAGE', { firstComment: 'x'.repeat(1250) }, []],
    ['LINKEDIN_PAGE', { firstComment: 'x'.repeat(1251) }, ['COPY_TOO_LONG']],
    ['FACEBOOK', { copy: 'x'.repeat(8001), isLater: true }, ['COPY_TOO_LONG']],
    ['THREADS', { firstComment: 'x'.repeat(501) }, ['COPY_TOO_LONG']],
    ['X', { firstComment: 'é'.repeat(281) }, ['COPY_TOO_LONG']],
    ['X', { firstComment: 'a\uFFFEb' }, ['COPY_INVALID']],
    ['FACEBOOK', { media: some(11, 'IMAGE') }, ['MEDIA_TOO_MANY']],
    ['INSTAGRAM', {}, ['MEDIA_MISSING']],
    ['INSTAGRAM', { copy: '', media: [medium('IMAGE'), medium('VIDEO')] }, []],
    ['INSTAGRAM', { media: some(1, 'GIF') }, ['MEDIA_KIND']],
    ['INSTAGRAM', { media: [...some(6, 'IMAGE'), ...some(5, 'VIDEO')] }, ['MEDIA_TOO_MANY']],
    ['THREADS', { copy: '👍'.repeat(125) }, []],
    ['THREADS', { copy: '👍'.repeat(126) }, ['COPY_TOO_LONG']],
    ['YOUTUBE', { media: some(1, 'VIDEO') }, ['TITLE_MISSING']],
    ['YOUTUBE', { title: 'x'.repeat(101), media: some(1, 'VIDEO') }, ['TITLE_TOO_LONG']],
    ['YOUTUBE', { title: 'A film', copy: 'é'.repeat(2501), media: some(1, 'VIDEO') }, ['COPY_TOO_LONG']],
    ['YOUTUBE', { title: 'A film', media: some(1, 'IMAGE') }, ['MEDIA_KIND']],
    ['YOUTUBE', { title: 'Five > four', media: some(1, 'VIDEO') }, ['COPY_INVALID']],
    ['YOUTUBE', { title: 'A film', tags: Array.from({ length: 12 }, () => 't'.repeat(40)), media: some(1, 'VIDEO') }, []],
    ['YOUTUBE', { title: 'A film', tags: Array.from({ length: 13 }, () => 't'.repeat(40)), media: some(1, 'VIDEO') }, ['COPY_INVALID']],
    ['X', { copy: 'x'.repeat(255), link }, []],
    ['X', { copy: 'x'.repeat(256), link }, ['COPY_TOO_LONG']],
    ['X', { copy: `${'x'.repeat(256)} ${link}`, link }, []],
    ['X', { copy: '', link }, []],
    ['FACEBOOK', { copy: '', link }, []],
    ['LINKEDIN', { copy: '', link }, []],
    ['LINKEDIN', { copy: 'x'.repeat(3000), link }, []],
    ['LINKEDIN', { copy: 'x'.repeat(2990), link, media: some(1, 'IMAGE') }, ['COPY_TOO_LONG']],
    ['THREADS', { copy: 'x'.repeat(480), link }, []],
    ['THREADS', { copy: 'x'.repeat(480), link, media: some(1, 'IMAGE') }, ['COPY_TOO_LONG']],
    ['THREADS', { media: [medium('VIDEO', { durationMs: 300_001 })] }, ['MEDIA_DURATION']],
    ['THREADS', { copy: links(5) }, []],
    ['THREADS', { copy: `${links(5)} ${links(1)}` }, []],
    ['THREADS', { copy: links(6) }, ['COPY_INVALID']],
    ['THREADS', { copy: links(6).replaceAll('example.com', 'shop.example') }, ['COPY_INVALID']],
    ['THREADS', { copy: `${links(5)} example.com.` }, ['COPY_INVALID']],
    ['THREADS', { copy: links(4), link }, []],
    ['THREADS', { copy: links(5), link }, ['COPY_INVALID']],
    ['THREADS', { copy: links(5), link, media: some(1, 'IMAGE') }, ['COPY_INVALID']],
    ['THREADS', { firstComment: links(6) }, ['COPY_INVALID']],
    ['INSTAGRAM', { copy: 'x'.repeat(2190), link, media: some(1, 'IMAGE') }, ['COPY_TOO_LONG']],
    ['INSTAGRAM', { media: [medium('VIDEO', { durationMs: 900_001 })] }, ['MEDIA_DURATION']],
    ['INSTAGRAM', { copy: marks('#', 30), media: some(1, 'IMAGE') }, []],
    ['INSTAGRAM', { copy: marks('#', 31), media: some(1, 'IMAGE') }, ['COPY_INVALID']],
    ['INSTAGRAM', { copy: marks('@', 20), media: some(1, 'IMAGE') }, []],
    ['INSTAGRAM', { copy: marks('@', 21), media: some(1, 'IMAGE') }, ['COPY_INVALID']],
    ['FACEBOOK', { copy: 'x'.repeat(8000), link, isLater: true }, ['COPY_TOO_LONG']],
    ['TIKTOK', { media: some(2, 'VIDEO') }, ['MEDIA_TOO_MANY']],
    ['TIKTOK', { media: [medium('VIDEO', { isReady: false })] }, ['MEDIA_NOT_READY']],
    ['X', { copy: '', media: [medium('VIDEO', { altText: null, durationMs: 200_000 })] }, ['MEDIA_DURATION', 'ALT_TEXT_MISSING']],
  ])('%s: %j', (platform, post, expected) => expect(codes(platform, post)).toEqual(expected))
})

describe('withLink', () => {
  test.each([
    ['Hello', 'https://example.com/', 'Hello\n\nhttps://example.com/'],
    ['', 'https://example.com/', 'https://example.com/'],
    ['See https://example.com.', 'https://example.com/', 'See https://example.com.'],
    ['See (https://EXAMPLE.com/größe)', 'https://example.com/gr%C3%B6%C3%9Fe', 'See (https://EXAMPLE.com/größe)'],
    ['See https://example.com/other', 'https://example.com/sale', 'See https://example.com/other\n\nhttps://example.com/sale'],
    ['https://[', 'https://example.com/', 'https://[\n\nhttps://example.com/'],
  ])('%j with %s: the link stands in the text once', (copy, link, text) => {
    expect(withLink(copy, link)).toBe(text)
  })
})
