import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readFilm } from '../../../../subgraphs/publishing/media/file/film.ts'
import { type Content, type ContentMedium, problemsOf } from '../../../../subgraphs/publishing/network/content/check.ts'
import { mediaRules } from '../../../../subgraphs/publishing/network/content/media.ts'
import type { FilmRules, Platform } from '../../../../subgraphs/publishing/network/network.ts'
import { everyNetwork, platforms } from '../../../../subgraphs/publishing/network/networks.ts'
import type { Medium, MediumKind } from '../../../../subgraphs/publishing/network/publication.ts'
import { mp4 } from '../media/files.ts'
import { serveMedia } from './served.ts'
import { type AtTwin, atTwin, publish } from './twin.ts'

const serve = serveMedia()

type Shape = NonNullable<Parameters<typeof mp4>[0]>

interface File {
  readonly medium: Medium
  readonly known: ContentMedium
}

/** A film as networks are sent it, and as the library knows it. */
async function filmOf(shape: Shape): Promise<File> {
  const bytes = mp4({ padding: 90_000, units: 5_000, ...shape })
  const { hidden: _, ...said } = await readFilm(bytes.length, async (first, last) => bytes.subarray(first, last + 1))
  const mimeType = shape.brand === 'qt  ' ? 'video/quicktime' : 'video/mp4'
  const medium = { ...serve('VIDEO', bytes, 'A film'), mimeType, ...said }
  return { medium, known: { kind: 'VIDEO', ...said, mimeType, bytes: bytes.length, isReady: true, altText: 'A film' } }
}

function pictureOf(kind: Exclude<MediumKind, 'VIDEO'>, bytes: number): File {
  const medium = serve(kind, bytes, 'A picture')
  const { mimeType, width, height } = medium
  return { medium, known: { kind, durationMs: null, mimeType, bytes, width, height, isReady: true, altText: 'A picture' } }
}

const plain = { link: null, tags: [], title: 'A title', firstComment: null, isLater: false }
const errorsOf = (platform: Platform, content: Content): readonly string[] =>
  problemsOf(everyNetwork[platform], content).flatMap(({ severity, code }) => (severity === 'ERROR' ? [code] : []))

/** What a twin makes of a post: where it was refused, why; null when it was published, or waits for what it was told to wait for. */
async function refusalBy(at: AtTwin, said: Parameters<typeof publish>[1]): Promise<string | null> {
  try {
    const { delivery, asked } = await publish(at, said)
    if (delivery.outcome === 'refused') return `${delivery.code}: ${delivery.detail}`
    if (delivery.outcome === 'delivered') return null
    // Of what is worked up after the call the network says later what became of it.
    const lookup = await at.network.find(asked, at.world.clock.now(), new Set()).catch((error: Error) => error.message)
    return typeof lookup === 'object' && lookup.found ? null : `${delivery.detail} ${JSON.stringify(lookup)}`
  } catch (error) {
    return (error as Error).message
  }
}

/** Films at each limit of a network, and beyond it. */
function* edges({ quicktime, seconds: [least, most], codecs, sound, ratio, sides, width }: FilmRules): Generator<readonly [string, Shape, boolean]> {
  yield [`${most} seconds`, { units: most * 1_000 }, true]
  yield [`more than ${most} seconds`, { units: most * 1_000 + 1 }, false]
  if (least > 0) {
    yield [`${least} seconds`, { units: least * 1_000 }, true]
    yield [`less than ${least} seconds`, { units: least * 1_000 - 1 }, false]
  }
  yield ['QuickTime', { brand: 'qt  ' }, quicktime]
  for (const codec of codecs ?? []) yield [`pictures as ${codec}`, { codec }, true]
  if (codecs) yield ['pictures as ap4h', { codec: 'ap4h' }, false]
  for (const name of sound ?? []) yield [`sound as ${name}`, { sound: name }, true]
  if (sound) yield ['sound as ac-3', { sound: 'ac-3' }, false]
  if (ratio && ratio[1] < 10) {
    yield ['a shape within', { width: Math.floor(ratio[1] * 400), height: 400 }, true]
    yield ['too wide a shape', { width: Math.ceil(ratio[1] * 400) + 1, height: 400 }, false]
    yield ['too high a shape', { width: 400, height: Math.ceil(400 / ratio[0]) + 1 }, false]
  }
  if (sides) {
    yield [`sides of ${sides[1]}`, { width: sides[1], height: sides[1] }, true]
    yield [`sides of ${sides[1] + 1}`, { width: sides[1], height: sides[1] + 1 }, false]
    yield [`sides of ${sides[0] - 1}`, { width: sides[0], height: sides[0] - 1 }, false]
  }
  if (width) {
    yield [`${width} pixels wide`, { width, height: 1_080 }, true]
    yield [`${width + 1} pixels wide`, { width: width + 1, height: 1_080 }, false]
  }
}

describe.each(platforms)('video checks for %s', platform => {
  const { film, source } = mediaRules[platform]

  test('use the network’s documented limits with the day on which they were read', () => {
    expect(source.url).toMatch(/^https:\/\//)
    expect(source.read).toMatch(/^20\d\d-\d\d-\d\d$/)
  })

  test.each([...edges(film!)])('%s: the check and the network agree', async (_, shape, taken) => {
    const { medium, known } = await filmOf(shape)
    expect(errorsOf(platform, { ...plain, copy: 'A film', media: [known] }).length === 0, 'the check').toBe(taken)
    await using at = await atTwin(platform)
    const refusal = await refusalBy(at, { copy: 'A film', title: 'A title', media: [medium] })
    expect(refusal === null, `the network: ${refusal}`).toBe(taken)
  })
})

const marked = (mark: string, count: number) => Array.from({ length: count }, (_, at) => `${mark}n${at}`).join(' ')

describe('the check and the network agree on', () => {
  test.each<[string, Platform, Partial<Content>, boolean]>([
    ['63,206 characters', 'FACEBOOK', { copy: 'a'.repeat(63_206) }, true],
    ['63,207 characters', 'FACEBOOK', { copy: 'a'.repeat(63_207) }, false],
    ['30 hashtags', 'INSTAGRAM', { copy: marked('#', 30) }, true],
    ['31 hashtags', 'INSTAGRAM', { copy: marked('#', 31) }, false],
    ['20 mentions', 'INSTAGRAM', { copy: marked('@', 20) }, true],
    ['21 mentions', 'INSTAGRAM', { copy: marked('@', 21) }, false],
  ])('%s', async (_, platform, more, taken) => {
    const { medium, known } = pictureOf('IMAGE', 2_000)
    const said = { copy: 'A text', tags: [], ...more }
    const [media, kept] = platform === 'FACEBOOK' ? [[], []] : [[medium], [known]]
    expect(errorsOf(platform, { ...plain, ...said, media: kept }).length === 0, 'the check').toBe(taken)
    await using at = await atTwin(platform)
    const refusal = await refusalBy(at, { title: 'A title', ...said, media })
    expect(refusal === null, `the network: ${refusal}`).toBe(taken)
  })
})

/** Texts of what networks count, mark and refuse. */
const pieces = [
  'word ',
  'é',
  '字',
  '👨‍👩‍👧‍👦',
  '#tag ',
  '@name ',
  '$CASH ',
  '< ',
  '> ',
  '[a](b) ',
  '\n',
  'www.example.com/a ',
  'https://example.com/b ',
  '\u202e',
  '\ufffe',
  '\\',
  '*_~ ',
]
const textOf = (most: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map(parts => parts.join('')),
    fc
      .tuple(fc.constantFrom('a', 'é', '字', '👍'), fc.integer({ min: -2, max: 1 }), fc.constantFrom(1, 2, 4))
      .map(([letter, more, weight]) => letter.repeat(Math.max(0, Math.floor(most / weight) + more))),
    fc
      .integer({ min: 1, max: 34 })
      .chain(count =>
        fc.constantFrom('#', '@', 'https://example.com/', 'x.co/').map(mark => Array.from({ length: count }, (_, at) => `${mark}n${at}`).join(' ')),
      ),
  )

describe.each(platforms)('a post that passes the check, for %s', platform => {
  const { content, capabilities } = everyNetwork[platform]
  const rules = mediaRules[platform]
  const shapes: readonly Shape[] = [
    {},
    { codec: 'hvc1' },
    { units: 400_000 },
    { width: 1_920, height: 1_080 },
    { width: 300, height: 1_200 },
    { brand: 'qt  ' },
    { sound: 'mp4a' },
  ]

  test('is rejected by no network for its content', async () => {
    const films = await Promise.all(shapes.map(filmOf))
    const pictures = [pictureOf('IMAGE', 2_000), pictureOf('IMAGE', 3_000), pictureOf('GIF', 4_000), pictureOf('GIF', 4_100_000)]
    const files = fc.oneof(
      ...(rules.least === 0 ? [fc.constant<File[]>([])] : []),
      fc.constantFrom(...films).map(file => [file]),
      ...(rules.images > 0
        ? [fc.constantFrom(...pictures).map(file => [file]), fc.array(fc.constantFrom(...pictures, ...films), { minLength: 2, maxLength: 4 })]
        : []),
    )
    const post = fc.record({
      copy: textOf(content.copy),
      link: fc.constantFrom(null, null, 'https://example.com/b', `https://example.com/${'c'.repeat(300)}`),
      title: content.title ? fc.constantFrom('A title', 'a < b', 't'.repeat(100), 't'.repeat(101), 'é'.repeat(100)) : fc.constant(null),
      tags: fc.oneof(fc.constant([]), fc.array(fc.constantFrom('tag', 'two words', 't'.repeat(50), 'a<b'), { maxLength: 14 })),
      firstComment: capabilities.firstComment ? fc.oneof(fc.constant(null), textOf(content.comment ?? content.copy)) : fc.constant(null),
      // Later posts of a thread are replies or comments, where they are no posts of their own.
      isLater: capabilities.thread === 'SEPARATE' ? fc.constant(false) : fc.boolean(),
      files,
    })
    let sent = 0
    await fc.assert(
      fc.asyncProperty(post, async ({ files: carried, ...said }) => {
        const firstComment = (!said.isLater && said.firstComment?.trim()) || null
        const errors = errorsOf(platform, { ...said, firstComment, media: carried.map(({ known }) => known) })
        fc.pre(errors.length === 0)
        sent += 1
        await using at = await atTwin(platform)
        const head = said.isLater ? (await publish(at, { copy: 'The first of a thread' })).delivery : null
        const inReplyTo = head?.outcome === 'delivered' ? head.platformPostId : null
        expect(inReplyTo !== null, 'its thread').toBe(said.isLater)
        const refusal = await refusalBy(at, {
          inReplyTo,
          copy: said.copy,
          link: said.link,
          title: said.title,
          tags: said.tags,
          media: carried.map(({ medium }) => medium),
        })
        expect(refusal).toBe(null)
        if (firstComment === null) return
        const [published] = await at.received()
        const { accessToken, account, target, placeToken } = at.asks({ copy: '' })
        const comment = await at.network.comment!({ accessToken, account, target, placeToken, platformPostId: published!.id, text: firstComment })
        expect(comment).toMatchObject({ outcome: 'delivered' })
      }),
      { numRuns: 25, maxSkipsPerRun: 500 },
    )
    expect(sent).toBeGreaterThanOrEqual(25)
  }, 60_000)
})
