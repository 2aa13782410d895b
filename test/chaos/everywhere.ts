import { png } from '../subgraphs/publishing/media/files.ts'
import type { Stage } from './stage.ts'

// A stage on which posts of every kind go to networks: what is written for four of them, and what became of it by both sides' accounts.

/** The networks, by the names of their twins, with how it is found out there what became of a call, and whether later posts of a thread are replies. */
export const networks = {
  X: { twin: 'x', lookup: 'BY_LISTING', replies: true },
  LINKEDIN: { twin: 'linkedin', lookup: 'NONE', replies: false },
  THREADS: { twin: 'threads', lookup: 'BY_ID', replies: true },
  FACEBOOK: { twin: 'facebook', lookup: 'BY_LISTING', replies: false },
  INSTAGRAM: { twin: 'instagram', lookup: 'BY_ID', replies: false },
  YOUTUBE: { twin: 'youtube', lookup: 'BY_ID', replies: false },
  TIKTOK: { twin: 'tiktok', lookup: 'BY_ID', replies: false },
} as const

export type Name = keyof typeof networks

/** Which part of the posts goes to each of the four that take a text alone. */
const shares = { X: 0.16, LINKEDIN: 0.26, THREADS: 0.26, FACEBOOK: 0.32 } as const
export const names = Object.keys(shares) as (keyof typeof shares)[]

/** A post as it is to be written. */
export interface Wanted {
  readonly platform: Name
  readonly copy: string
  readonly at: Date
  readonly thread?: string
  readonly target?: Place
  readonly mediaIds?: readonly string[]
  readonly title?: string
  readonly comment?: string
}

interface Place {
  readonly kind: string
  readonly externalId: string
}

/** A post as its row has it. */
export interface Stood {
  readonly id: string
  readonly platform: Name
  readonly copy: string
  readonly thread_id: string
  readonly position: number
  readonly status: 'DRAFT' | 'SCHEDULED' | 'PUBLISHED' | 'FAILED'
  readonly delivery_phase: 'NONE' | 'CLAIMED' | 'SENDING' | 'UNKNOWN'
  readonly platform_post_id: string | null
  readonly failure_code: string | null
  readonly failure_message: string | null
  readonly pictures: number
  readonly place: string | null
  readonly first_comment: string | null
  readonly first_comment_status: 'PENDING' | 'SENT' | 'FAILED' | 'UNKNOWN' | null
  readonly first_comment_id: string | null
}

/** What a network has. */
export interface Received {
  readonly id: string
  readonly text: string
  readonly receivedAt: string
  readonly inReplyToId: string | null
  readonly media?: readonly { readonly sha256: string }[]
  readonly target?: { readonly kind: string; readonly id: string }
}

/** Every post of the plan begins so, and its comment ends with the same words. */
export const mark = 'chaos'

/**
 * Makes up posts: texts, pictures, threads of three, places, first comments, and here and there the same text twice.
 * @param among where posts of Facebook may go
 */
export function plan(
  count: number,
  random: () => number,
  due: () => Date,
  { among, mediaIds }: { among: readonly Place[]; mediaIds: readonly string[] },
): Wanted[] {
  const all: Wanted[] = []
  const one = <Of>(of: readonly Of[]): Of => of[Math.floor(random() * of.length)]!
  for (const platform of names) {
    const most = Math.round(count * shares[platform])
    for (let number = 0; number < most; ) {
      const copy = (part: number) => `${mark} ${platform.toLowerCase()} ${number + part}`
      const kind = random()
      const at = due()
      const target = platform === 'FACEBOOK' ? { target: one(among) } : {}
      const isPage = platform !== 'FACEBOOK' || target.target?.kind === 'PAGE'
      if (kind < 0.12 && number + 3 <= most) {
        for (const part of [0, 1, 2]) all.push({ platform, copy: copy(part), at, thread: copy(0), ...target })
        number += 3
        continue
      }
      if (kind < 0.15 && number + 2 <= most && (platform === 'X' || platform === 'LINKEDIN')) {
        for (const _ of [0, 1]) all.push({ platform, copy: `${copy(0)} twice`, at })
        number += 2
        continue
      }
      const isCommented = kind < 0.28 && platform !== 'LINKEDIN' && isPage
      const comment = isCommented ? { comment: `comment of ${copy(0)}` } : {}
      all.push({ platform, copy: copy(0), at, ...target, ...comment, ...(kind > 0.8 && { mediaIds: [one(mediaIds)] }) })
      number += 1
    }
  }
  return all
}

/** The posts without a first comment as a file of CSV, which knows none. */
export function toCsv(wanted: readonly Wanted[]): string {
  const lines = wanted.map(({ platform, copy, at, thread = '', target, mediaIds = [], title = '' }) =>
    [platform, copy, at.toISOString(), thread, target?.kind ?? '', target?.externalId ?? '', mediaIds.join(';'), title].join(','),
  )
  return ['platform,copy,scheduledAt,threadKey,targetKind,targetId,mediaIds,title', ...lines].join('\n')
}

/** Chooses every place of the brand's Facebook account. @returns them */
export async function chooseEverywhere(stage: Stage): Promise<readonly Place[]> {
  const document = 'query($brandId: ID!) { connections(brandId: $brandId, platform: FACEBOOK) { nodes { id targets { kind externalId available } } } }'
  const { connections } = await stage.query<{ connections: { nodes: { id: string; targets: (Place & { available: boolean })[] }[] } }>(document, {
    brandId: stage.brandId(),
  })
  const [{ id, targets }] = connections.nodes as [{ id: string; targets: (Place & { available: boolean })[] }]
  const places = targets.filter(({ available }) => available).map(({ kind, externalId }) => ({ kind, externalId }))
  await stage.query('mutation($input: SelectConnectionTargetsInput!) { selectConnectionTargets(input: $input) { id } }', {
    input: { id, targets: places, default: places[0] },
  })
  return places
}

/** Brings so many pictures into the brand's library. @returns their ids */
export async function bringPictures(stage: Stage, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < count; at += 1) {
    const path = `/publishing/api/media?brandId=${stage.brandId()}&filename=${at}.png`
    const answer = await stage.rest('POST', path, { headers: { 'content-type': 'image/png' }, body: new Uint8Array(png(320 + at, 320)) })
    ids.push(((await answer.json()) as { id: string }).id)
  }
  return ids
}

export const stood = (stage: Stage): Promise<Stood[]> =>
  stage.sql<Stood>(
    `select id, platform, copy, thread_id, position, status, delivery_phase, platform_post_id, failure_code, failure_message,
       jsonb_array_length(media) as pictures, target ->> 'externalId' as place, first_comment, first_comment_status, first_comment_id
     from publishing.posts where copy like '${mark} %' order by thread_id, position`,
  )

/** What networks have of the plan, the oldest first. */
export async function received(stage: Stage, of: readonly Name[] = names): Promise<ReadonlyMap<Name, readonly Received[]>> {
  const all = of.map(async name => {
    const has = (await stage.control(`received?network=${networks[name].twin}`)) as Received[]
    return [name, has.filter(({ text }) => text.includes(`${mark} `))] as const
  })
  return new Map(await Promise.all(all))
}

/** The post before each in its thread. */
const earlierOf = (posts: readonly Stood[]) => new Map(posts.map((post, at) => [post, posts[at - 1]?.thread_id === post.thread_id ? posts[at - 1]! : null]))

/** Posts that wait for ever, for the post before them is not out. */
export function held(posts: readonly Stood[]): ReadonlySet<Stood> {
  const earlier = earlierOf(posts)
  return new Set(posts.filter(post => post.status === 'SCHEDULED' && earlier.get(post) && earlier.get(post)!.status !== 'PUBLISHED'))
}

/** What is wrong between what we say and what the networks have, in sentences; and the table of it. */
export function compare(posts: readonly Stood[], have: ReadonlyMap<Name, readonly Received[]>): { readonly wrong: string[]; readonly table: string[] } {
  const wrong: string[] = []
  const waits = held(posts)
  const earlier = earlierOf(posts)
  const table = [
    '| network | asked | posts | published | failed | unknown | behind one of these | received | comments sent/unknown | doubled | lost |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
  ]
  for (const [name, has] of have) {
    const mine = posts.filter(({ platform }) => platform === name)
    const there = has.filter(({ text }) => text.startsWith(mark))
    const byText = Map.groupBy(mine, ({ copy }) => copy)
    const receivedByText = Map.groupBy(there, ({ text }) => text)
    let [doubled, lost] = [0, 0]
    for (const [copy, written] of byText) {
      const published = written.filter(({ status }) => status === 'PUBLISHED')
      const unknown = written.filter(({ delivery_phase }) => delivery_phase === 'UNKNOWN')
      const found = receivedByText.get(copy) ?? []
      if (found.length > published.length + unknown.length) {
        doubled += found.length - published.length - unknown.length
        wrong.push(
          `${name} has ${copy} ${found.length} times: we say ${written.map(({ status, delivery_phase, failure_code }) => `${status} ${delivery_phase} ${failure_code}`)}`,
        )
      }
      if (found.length < published.length) {
        lost += published.length - found.length
        wrong.push(`${name} has ${copy} ${found.length} times, and we say that it was published ${published.length} times`)
      }
      const ids = new Set(found.map(({ id }) => id))
      const named = published.map(({ platform_post_id }) => platform_post_id!)
      if (new Set(named).size !== named.length || named.some(id => !ids.has(id))) wrong.push(`${copy} is ${named} by us, and ${[...ids]} by ${name}`)
    }
    for (const { text } of there) if (!byText.has(text)) wrong.push(`${name} has ${text}, which nobody wrote`)
    for (const post of mine) {
      if (post.status === 'PUBLISHED' || post.status === 'FAILED' || waits.has(post)) continue
      lost += 1
      wrong.push(`${post.copy} is ${post.status} ${post.delivery_phase} still`)
    }
    for (const post of mine) {
      const before = earlier.get(post)
      const [own] = there.filter(({ id }) => id === post.platform_post_id)
      if (own && (own.media?.length ?? 0) !== post.pictures) wrong.push(`${post.copy} has ${own.media?.length ?? 0} media, not ${post.pictures}`)
      if (own && post.place && own.target?.id !== post.place) wrong.push(`${post.copy} stands at ${own.target?.id}, not ${post.place}`)
      if (!before || !own) continue
      const [first] = there.filter(({ id }) => id === before.platform_post_id)
      if (!first || Date.parse(first.receivedAt) > Date.parse(own.receivedAt)) wrong.push(`${post.copy} came before the post that it follows`)
      else if (networks[name].replies && own.inReplyToId !== first.id) wrong.push(`${post.copy} answers ${own.inReplyToId}, not ${first.id}`)
    }
    const comments = Map.groupBy(
      has.filter(({ text }) => !text.startsWith(mark)),
      ({ text }) => text,
    )
    const commented = mine.filter(({ first_comment }) => first_comment !== null)
    for (const { status, first_comment, first_comment_status: is, first_comment_id } of commented) {
      const found = comments.get(first_comment!) ?? []
      const most = is === 'SENT' || is === 'UNKNOWN' ? 1 : 0
      if (found.length > most || (is === 'SENT' && found[0]?.id !== first_comment_id))
        wrong.push(`${name} has ${first_comment} ${found.length} times, and we say ${is}`)
      if (found.length > most) doubled += 1
      if (status === 'PUBLISHED' && is === 'PENDING') wrong.push(`${first_comment} is not sent yet`)
    }
    const failed = mine.filter(({ status, delivery_phase }) => status === 'FAILED' && delivery_phase !== 'UNKNOWN')
    const codes = [...Map.groupBy(failed, ({ failure_code }) => failure_code)].map(([code, those]) => `${those.length} ${code}`).join(', ')
    const count = (is: (post: Stood) => boolean) => mine.filter(is).length
    table.push(
      `| ${name} | ${networks[name].lookup} | ${mine.length} | ${count(({ status }) => status === 'PUBLISHED')} | ${codes || 0} | ${count(
        ({ delivery_phase }) => delivery_phase === 'UNKNOWN',
      )} | ${count(post => waits.has(post))} | ${there.length} | ${commented.filter(post => post.first_comment_status === 'SENT').length}/${
        commented.filter(post => post.first_comment_status === 'UNKNOWN').length
      } | ${doubled} | ${lost} |`,
    )
  }
  return { wrong, table }
}
