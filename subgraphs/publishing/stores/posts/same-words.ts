import type DataLoader from 'dataloader'
import type { Reading } from '../../../../platform/sql/reading.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { createLoader } from '../../../store/loader.ts'
import type { Platform } from '../../network/network.ts'
import type { Target } from '../../network/publication.ts'
import type { PostReads } from './of-brand.ts'

/** A text that may repeat a scheduled or published one. */
export interface Words {
  readonly brandId: string
  readonly platform: Platform
  readonly target: Target | null
  readonly copy: string
  /** Scheduled time; the present for a post without one. */
  readonly at: Date
  /** Id of the post; null for a post that is not stored yet. */
  readonly postId: string | null
}

/** Days within which posts with the same text count as repetitions. */
export const sameWordsForDays = 7

/** Hash of a text without regard to case and white space; the index posts_by_words contains it. */
const key = (copy: string) => `md5(lower(btrim(regexp_replace(${copy}, '\\s+', ' ', 'g'))))`

const found = statement(
  `select w.n::int as n from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::uuid[])
      with ordinality as w(brand_id, platform, place, copy, at, post_id, n)
    where exists (
      select from publishing.posts p
        where p.brand_id = w.brand_id and p.platform = w.platform and ${key('p.copy')} = ${key('w.copy')} and p.status in ('SCHEDULED', 'PUBLISHED')
          and p.target->>'externalId' is not distinct from w.place and p.id is distinct from w.post_id
          and coalesce(p.published_at, p.scheduled_at) between w.at - interval '${sameWordsForDays} days' and w.at + interval '${sameWordsForDays} days')`,
)

/** Loads, for one operation, whether the same text is scheduled or published for the same place within a week. */
export const sameWordsLoader = (reading: Reading, rows: PostReads): DataLoader<Words, boolean> =>
  createLoader<Words, boolean>(reading, async asked => {
    const column = <Value>(pick: (words: Words) => Value) => asked.map(pick)
    const values = [
      column(({ brandId }) => brandId),
      column(({ platform }) => platform),
      column(({ target }) => target?.externalId ?? null),
      column(({ copy }) => copy),
      column(({ at }) => at),
      column(({ postId }) => postId),
    ]
    const said = new Set((await rows.read<{ n: number }>(found, values)).map(({ n }) => n))
    return asked.map((_, place) => said.has(place + 1))
  })
