import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../kit/launch.ts'
import { mp4 } from '../subgraphs/publishing/media/files.ts'
import { mark, type Wanted } from './everywhere.ts'
import type { Stage } from './stage.ts'

// Posts for the networks that take no text alone: pictures and films of Instagram, films of YouTube and TikTok.

/** A film in a brand's library. */
export interface Film {
  readonly id: string
  /** Of its bytes, in hexadecimal digits. */
  readonly sha256: string
}

/** Brings a film of about so many bytes into a brand's library, in parts, and waits until it was looked at. */
export async function bringFilm(stage: Stage, brandId: string, padding: number): Promise<Film> {
  const body = new Uint8Array(mp4({ padding, units: 4_000 }))
  const tus = { 'tus-resumable': '1.0.0' }
  const metadata = Object.entries({ brandId, filename: `${padding}.mp4` }).map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
  const begun = await stage.rest('POST', '/publishing/api/media/uploads', {
    headers: { ...tus, 'upload-length': String(body.length), 'upload-metadata': metadata.join(',') },
  })
  const ended = await stage.rest('PATCH', begun.headers.get('location')!, {
    headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
    body,
  })
  const id = ended.headers.get('x-media-asset-id')!
  await until(`film ${id} is ready`, async () => {
    const { mediaAsset } = await stage.query<{ mediaAsset: { status: string } }>('query($id: ID!) { mediaAsset(id: $id) { status } }', { id })
    return mediaAsset.status === 'READY' || (await wait(100, false))
  })
  return { id, sha256: createHash('sha256').update(body).digest('hex') }
}

/** Makes a brand that is connected with an account of its own at TikTok, by its consent page. @returns its id */
export async function newBrand(stage: Stage, name: string): Promise<string> {
  const { createBrand } = await stage.query<{ createBrand: { id: string } }>('mutation($input: CreateBrandInput!) { createBrand(input: $input) { id } }', {
    input: { name },
  })
  const begun = await stage.rest('POST', '/publishing/api/integrations/tiktok/connect', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ brandId: createBrand.id }),
  })
  const { authorizationUrl } = (await begun.json()) as { authorizationUrl: string }
  const connected = await fetch(`${authorizationUrl}&sandbox_approve=1&sandbox_account=${name}`)
  if (connected.status !== 200) throw new Error(`${name} is not connected: ${connected.status} ${await connected.text()}`)
  return createBrand.id
}

/** What a brand has to post. */
export interface Library {
  readonly brandId: string
  readonly pictures: readonly string[]
  readonly films: readonly Film[]
}

/** How many posts there are for each network. */
export interface Counts {
  readonly INSTAGRAM: number
  readonly YOUTUBE: number
  readonly TIKTOK: number
}

/** A post of a brand, with what of a film has to arrive. */
export type WantedFilm = Wanted & { readonly brandId: string; readonly sha256?: string }

/**
 * Makes up posts: pictures, several of them, pictures beside films, films, threads of three, and here and there the same text twice. Those
 * for TikTok go to the brands in turn, for an account may begin six a minute there; all others to the first one.
 */
export function planFilms(counts: Counts, random: () => number, due: () => Date, libraries: readonly Library[]): WantedFilm[] {
  const one = <Of>(of: readonly Of[]): Of => of[Math.floor(random() * of.length)]!
  const all: WantedFilm[] = []
  for (const platform of ['INSTAGRAM', 'YOUTUBE', 'TIKTOK'] as const) {
    const most = counts[platform]
    for (let number = 0; number < most; ) {
      const { brandId, pictures, films } = platform === 'TIKTOK' ? libraries[number % libraries.length]! : libraries[0]!
      const copy = (part: number) => `${mark} ${platform.toLowerCase()} ${number + part}`
      const kind = random()
      const [at, film] = [due(), one(films)]
      const picked = platform === 'INSTAGRAM' ? [[one(pictures)], [one(pictures)], pictures.slice(0, 3), [one(pictures), film.id], [film.id]] : [[film.id]]
      const said = { platform, at, brandId, mediaIds: one(picked), ...(platform !== 'INSTAGRAM' && { sha256: film.sha256 }) }
      const titled = (text: string) => ({ ...said, copy: text, ...(platform === 'YOUTUBE' && { title: text }) })
      if (kind < 0.12 && number + 3 <= most) {
        for (const part of [0, 1, 2]) all.push({ ...titled(copy(part)), thread: copy(0) })
        number += 3
      } else if (kind < 0.2 && number + 2 <= most) {
        for (const _ of [0, 1]) all.push(titled(`${copy(0)} twice`))
        number += 2
      } else {
        all.push(titled(copy(0)))
        number += 1
      }
    }
  }
  return all
}
