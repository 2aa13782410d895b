import type { FilmRules } from '../network.ts'

/** Known properties of a film; null or absent when unknown. */
export interface KnownFilm {
  readonly durationMs: number | null
  readonly mimeType?: string | null
  readonly bytes?: number | null
  readonly width?: number | null
  readonly height?: number | null
  readonly videoCodec?: string | null
  readonly audioCodec?: string | null
}

/** Why a network refuses a film: a code of the check, and a sentence without its subject. */
export interface FilmObjection {
  readonly code: 'MEDIA_TOO_LARGE' | 'MEDIA_DURATION' | 'MEDIA_KIND'
  readonly sentence: string
}

const megabytes = (bytes: number): string => (bytes < 1_000_000 ? `${bytes / 1_000} kB` : `${bytes / 1_000_000} MB`)

/** Everything for which a network does not take a film. */
export function objectionsToFilm(rules: FilmRules, film: KnownFilm): readonly FilmObjection[] {
  return [...objectionsToFile(rules, film), ...objectionsToShape(rules, film)]
}

function* objectionsToFile(
  { quicktime, bytes: [least, most], seconds: [shortest, longest], codecs, sound }: FilmRules,
  film: KnownFilm,
): Generator<FilmObjection> {
  const { durationMs, mimeType, bytes, videoCodec, audioCodec } = film
  if (bytes != null && most !== null && bytes > most) yield { code: 'MEDIA_TOO_LARGE', sentence: `takes films of ${megabytes(most)} at most: make it smaller.` }
  if (bytes != null && bytes < least) yield { code: 'MEDIA_KIND', sentence: `takes no film of less than ${megabytes(least)}: choose another one.` }
  if (durationMs !== null && durationMs > longest * 1_000) yield { code: 'MEDIA_DURATION', sentence: `takes films of ${longest} seconds at most: cut it.` }
  if (durationMs !== null && durationMs < shortest * 1_000)
    yield { code: 'MEDIA_DURATION', sentence: `takes no film of less than ${shortest} seconds: choose a longer one.` }
  if (mimeType === 'video/quicktime' && !quicktime)
    yield { code: 'MEDIA_KIND', sentence: 'takes films as MP4 alone, and this one is QuickTime: save it as MP4.' }
  if (videoCodec != null && codecs && !codecs.includes(videoCodec))
    yield { code: 'MEDIA_KIND', sentence: `takes no film whose pictures are written as ${videoCodec}: save it as H.264.` }
  if (audioCodec != null && sound && !sound.includes(audioCodec))
    yield { code: 'MEDIA_KIND', sentence: `takes no film whose sound is written as ${audioCodec}: save it with AAC.` }
}

function* objectionsToShape({ ratio, sides, width: widest }: FilmRules, { width, height }: KnownFilm): Generator<FilmObjection> {
  if (width == null || height == null) return
  const shape = `${width} × ${height}`
  if (ratio && (width / height < ratio[0] || width / height > ratio[1]))
    yield { code: 'MEDIA_KIND', sentence: `takes no film of this shape, ${shape}: crop it.` }
  if (sides && Math.min(width, height) < sides[0])
    yield { code: 'MEDIA_KIND', sentence: `takes no film whose sides are less than ${sides[0]} pixels, and this one has ${shape}.` }
  const most = sides?.[1] ?? null
  if (most !== null && Math.max(width, height) > most)
    yield { code: 'MEDIA_TOO_LARGE', sentence: `takes films whose sides have ${most} pixels at most, and this one has ${shape}: scale it down.` }
  if (widest !== null && width > widest)
    yield { code: 'MEDIA_TOO_LARGE', sentence: `takes films that are ${widest} pixels wide at most, and this one has ${shape}: scale it down.` }
}
