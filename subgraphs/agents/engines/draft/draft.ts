import { setImmediate as others } from 'node:timers/promises'
import type { Logger } from 'pino'
import { DomainError } from '../../../../platform/errors.ts'
import { createTurns } from '../../../../platform/jobs/turns.ts'
import type { PersonProfileRow } from '../../stores/person-profile.ts'
import type { profileSourceStore, ReadySource } from '../../stores/profile-source.ts'
import type { StyleSnapshotRow, styleSnapshotStore } from '../../stores/style-snapshot.ts'
import type { Models } from '../model/models.ts'
import { messagesOf } from '../model/prompt.ts'
import { openQuoting, type Quotation, shorten } from './quote.ts'

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** What drafts are written with. */
export interface DraftWork {
  readonly profileSources: Pick<Opened<typeof profileSourceStore>, 'readyOf' | 'readyTexts'>
  readonly styleSnapshots: Pick<Opened<typeof styleSnapshotStore>, 'find'>
  readonly models: Pick<Models, 'complete'>
  readonly log: Logger
}

export type DraftKind = 'POST' | 'REPLY' | 'EMAIL' | 'SPEECH'
export type DraftMode = 'AUTO' | 'MODEL' | 'EXTRACTIVE'

/** What is to be written. */
export interface Wish {
  readonly brief: string
  readonly kind: DraftKind
  readonly maxCharacters: number
  readonly mode: DraftMode
  /** The person who asks, to whom providers attribute the call; null for nobody. */
  readonly forUser: string | null
  readonly signal?: AbortSignal | undefined
}

/** A text in the voice of a profile. */
export interface Draft {
  readonly text: string
  readonly mode: 'MODEL' | 'EXTRACTIVE'
  /** What readers should know; null for a model's text. */
  readonly notice: string | null
  readonly snapshot: StyleSnapshotRow | null
  /** Sentences that it rests on, at least one. */
  readonly citations: readonly Quotation[]
}

/** Most characters of a text where the caller names no limit, by kind. */
export const usualCharacters: Readonly<Record<DraftKind, number>> = { POST: 280, REPLY: 280, EMAIL: 1_500, SPEECH: 2_000 }
/** Most characters of the sentences that a model is given. */
const maxQuoted = 6_000
/** Time limit of the model, in ms; the fields declare more with `@patience`. */
const modelMs = 45_000
/** Most characters of sources that one draft reads, the oldest sources first. */
const maxRead = 10_000_000
/** Texts that are held at once. */
const atOnce = 10

const notices = {
  wanted: 'This text quotes the sources; no language model wrote it.',
  away: 'No language model answered: this text quotes the sources.',
} as const

/** Reading many sources takes a good part of a process's time: one draft reads at a time, organizations in turn. */
const turns = createTurns({ what: 'drafts of profiles', places: 1, maxWaiting: { ofKey: 50_000, inAll: 200_000 }, perSecond: 5_000 })

/**
 * Writes a text in the voice of a profile whose use was checked.
 * @throws CONFLICT, reason NO_SOURCES; UPSTREAM_FAILED where a model was required and none answered
 */
export async function draft(work: DraftWork, profile: PersonProfileRow, wish: Wish): Promise<Draft> {
  const quoting = await read(work, profile, wish.brief)
  const snapshot = await work.styleSnapshots.find(profile.activeSnapshotId)
  const extractive = (notice: string): Draft => {
    const citations = quoting.best(wish.maxCharacters)
    return { text: citations.map(({ quote }) => quote).join(' '), mode: 'EXTRACTIVE', notice, snapshot, citations }
  }
  if (wish.mode === 'EXTRACTIVE') return extractive(notices.wanted)
  const citations = quoting.best(maxQuoted)
  try {
    const text = shorten((await ask(work, profile, snapshot, wish, citations)).trim(), wish.maxCharacters)
    if (text !== '') return { text, mode: 'MODEL', notice: null, snapshot, citations }
  } catch (error) {
    if (wish.signal?.aborted) throw error
    work.log.warn({ err: error, organizationId: profile.organizationId }, 'no model wrote in the style of a profile')
  }
  if (wish.mode === 'AUTO') return extractive(notices.away)
  throw new DomainError('UPSTREAM_FAILED', 'No language model answered: try again later, or ask for mode EXTRACTIVE.')
}

async function read({ profileSources }: DraftWork, { id, organizationId }: PersonProfileRow, brief: string) {
  const quoting = openQuoting(brief)
  const ready = await profileSources.readyOf(id, null)
  if (ready.length === 0)
    throw new DomainError('CONFLICT', 'The profile has no READY source to write from: add a text first, or wait until its address is fetched.', {
      reason: 'NO_SOURCES',
    })
  const weight = ready.reduce((sum, { characters }) => sum + characters, 0) / 1_000
  return turns.run({ key: organizationId, weight: Math.min(weight, maxRead / 1_000) }, async () => {
    const ids = withinLimit(ready)
    for (let at = 0; at < ids.length; at += atOnce)
      for (const { sourceId, text } of await profileSources.readyTexts(id, ids.slice(at, at + atOnce))) {
        quoting.add(sourceId, text)
        await others()
      }
    return quoting
  })
}

/** The sources that one draft reads: the oldest ones, as many as the limit allows. */
function withinLimit(ready: readonly ReadySource[]): string[] {
  let read = 0
  return ready.flatMap(({ id, characters }) => {
    read += characters
    return read <= maxRead ? [id] : []
  })
}

const forms: Readonly<Record<DraftKind, string>> = {
  POST: 'a post for a social network',
  REPLY: 'a reply to somebody on a social network',
  EMAIL: 'an e-mail, without subject line',
  SPEECH: 'a text to be spoken aloud',
}

async function ask(
  { models }: DraftWork,
  profile: PersonProfileRow,
  snapshot: StyleSnapshotRow | null,
  wish: Wish,
  citations: readonly Quotation[],
): Promise<string> {
  const { kind, brief, maxCharacters, forUser, signal } = wish
  const { writingStyle, speakingStyle } = snapshot ?? profile
  const spoken = [
    ['Pace', speakingStyle.pace],
    ['Cadence', speakingStyle.cadence],
    ['Fillers', speakingStyle.fillers.join('; ')],
    ['Pronunciations', speakingStyle.pronunciations.join('; ')],
  ].flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))
  const instructions = [`Write ${forms[kind]} of at most ${maxCharacters} characters. Answer with the text alone.`, ...(kind === 'SPEECH' ? spoken : [])].join(
    '\n',
  )
  const passages = citations.map(({ quote }) => ({ title: 'What this person wrote or said', text: quote }))
  const { displayName, personaRules, organizationId } = profile
  const messages = messagesOf({ instructions, voice: { displayName, writingStyle, personaRules }, passages }, [{ role: 'USER', content: brief }])
  return (await models.complete({ organizationId, forUser, model: 'default', messages, timeoutMs: modelMs, signal })).text
}
