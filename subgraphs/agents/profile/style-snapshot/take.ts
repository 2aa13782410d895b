import { createHash } from 'node:crypto'
import { setImmediate as others } from 'node:timers/promises'
import { DomainError } from '../../../../platform/errors.ts'
import { readIdempotency } from '../../../../platform/idempotency.ts'
import { newId, requireId } from '../../../../platform/ids.ts'
import { createTurns } from '../../../../platform/jobs/turns.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { findMade, writing } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { CreateStyleSnapshotInput } from '../../resolvers.generated.ts'
import type { PersonProfileRow } from '../../stores/person-profile.ts'
import type { ReadySource } from '../../stores/profile-source.ts'
import type { Measures, StyleSnapshotRow } from '../../stores/style-snapshot.ts'
import { createMeasuring } from './measures.ts'

/** How many snapshots a profile may have. */
const mostSnapshots = 1_000
/** How much text one snapshot measures, in characters: all of it is counted while others wait for their turn. */
const mostCharacters = 10_000_000
/** How many texts are held at once. */
const atOnce = 10

/** A snapshot that was asked for, and whether it was taken for that. */
export interface Taken {
  readonly snapshot: StyleSnapshotRow
  readonly isNew: boolean
}

/** The same for the same style and the same texts, in whatever order. */
export function digestOf({ writingStyle: w, speakingStyle: s }: Pick<PersonProfileRow, 'writingStyle' | 'speakingStyle'>, hashes: readonly string[]): string {
  const style = [w.tone, w.formality, w.sentenceLength, w.vocabulary, w.dos, w.donts, w.signaturePhrases, s.pace, s.cadence, s.fillers, s.pronunciations]
  return createHash('sha256')
    .update(JSON.stringify([style, hashes.toSorted()]))
    .digest('hex')
}

/**
 * Takes down a profile's style and makes that its active snapshot, unless it is as the newest one has it. Texts never change, so they are
 * measured before anything is locked: whoever else uses the profile or the database waits for none of it.
 * @throws NOT_FOUND; BAD_USER_INPUT for a source that is none; CONFLICT, reason NO_SOURCES
 */
export async function takeSnapshot(context: Context, input: CreateStyleSnapshotInput): Promise<Taken> {
  const { viewer, personProfiles, profileSources, styleSnapshots, quotas } = context
  const organizationId = activeOrganization(viewer, 'Person profiles')
  const inTurn = <Result>(weight: number, work: () => Promise<Result>) => turns.run({ key: organizationId, weight }, work)
  const profileId = requireId(input.personProfileId, 'personProfileId')
  const wanted = input.sourceIds?.map((id, index) => requireId(id, `sourceIds[${index}]`)) ?? null
  const idempotency = readIdempotency(input)
  const seen = await personProfiles.require(profileId, 'personProfileId')
  // Text lengths are read from the texts, so this read takes its turn as well.
  const sources = await inTurn(weightOfReading, () => profileSources.readyOf(profileId, wanted))
  const sourceIds = sources.map(({ id }) => id)
  const digestWith = (profile: PersonProfileRow) =>
    digestOf(
      profile,
      sources.map(({ contentHash }) => contentHash),
    )
  const isMeasurable = charactersOf(sources) <= mostCharacters
  const isKnown = (await styleSnapshots.newestOf(profileId))?.digest === digestWith(seen)
  // If another snapshot was taken in between, the cached one is out of date.
  return (await taken(isKnown || !isMeasurable ? null : await measured())) ?? (await taken(await measured()))!

  /** @returns null when it has to be measured first */
  function taken(measures: Measures | null): Promise<Taken | null> {
    return write<Taken | null>(context, {
      async run(unit) {
        const { transaction, now } = unit
        // A concurrent snapshot of the same profile waits here, so that numbers are consecutive.
        const profile = await personProfiles.requireLocked(profileId, transaction)
        const newest = await styleSnapshots.newestOf(profileId, transaction)
        const digest = digestWith(profile)
        const isNew = newest?.digest !== digest
        if (isNew && isMeasurable && !measures) return null
        const id = isNew ? newId(now) : newest.id
        const earlier = idempotency && (await findMade(context[writing], styleSnapshots, { tenantId: organizationId, id, ...idempotency }, unit))
        if (earlier) return { snapshot: earlier, isNew: false }
        requireSources(sources, wanted)
        const snapshot = isNew ? await styleSnapshots.insert(await freshOf(profile), transaction) : newest
        // What people write of the profile stays as it was, so that nobody's change of it is stale.
        if (profile.activeSnapshotId !== snapshot.id) await personProfiles.update(profile, { activeSnapshotId: snapshot.id, updatedAt: now }, transaction)
        return { snapshot, isNew }

        async function freshOf({ writingStyle, speakingStyle }: PersonProfileRow) {
          const number = (newest?.number ?? 0) + 1
          const createdBy = actorOf(viewer)
          const { today, todaySince } = await styleSnapshots.madeBy(createdBy, now, quotas.snapshotsADay, transaction)
          const most = { inAll: mostSnapshots, aDay: quotas.snapshotsADay }
          requireQuota({ inAll: number - 1, today: 0, todaySince: null }, most, 'snapshots of this profile', 'make another profile', now)
          requireQuota({ inAll: 0, today, todaySince }, most, 'snapshots that you took', 'wait', now)
          const stamps = { createdAt: now, updatedAt: now, createdBy }
          return { profileId, id, number, sourceIds, writingStyle, speakingStyle, measures: measures!, digest, ...stamps }
        }
      },
      audit: ({ snapshot, isNew }) =>
        isNew ? { tenantId: organizationId, action: 'style-snapshot.created', subjectId: snapshot.id, details: { profileId, number: snapshot.number } } : null,
    })
  }

  function measured(): Promise<Measures> {
    return inTurn(charactersOf(sources) / 1000, async () => {
      const measuring = createMeasuring()
      for (let at = 0; at < sourceIds.length; at += atOnce) {
        for (const text of await profileSources.textsOf(profileId, sourceIds.slice(at, at + atOnce))) {
          measuring.add(text)
          await others()
        }
      }
      return measuring.measures()
    })
  }
}

/**
 * Different words of so much text take a good part of a process's memory: one snapshot is measured at a time, by organizations in turn, charged
 * by thousands of characters.
 */
const turns = createTurns({ what: 'style snapshots', places: 1, maxWaiting: { ofKey: 50_000, inAll: 200_000 }, perSecond: 5_000 })
/** How much work it is to look up how long texts are, as measuring counts. */
const weightOfReading = 10

const charactersOf = (sources: readonly ReadySource[]): number => sources.reduce((sum, { characters }) => sum + characters, 0)

function requireSources(found: readonly ReadySource[], wanted: readonly string[] | null): void {
  const ready = new Set(found.map(({ id }) => id))
  const missing = wanted?.findIndex(id => !ready.has(id)) ?? -1
  if (missing >= 0) {
    const field = `sourceIds[${missing}]`
    throw new DomainError('BAD_USER_INPUT', `${field} is no READY source of this profile: name those that are, or none for all of them.`, { field })
  }
  const characters = charactersOf(found)
  if (characters > mostCharacters)
    throw new DomainError(
      'CONFLICT',
      `The sources have ${characters} characters together, and one snapshot measures ${mostCharacters}: name fewer in sourceIds.`,
      {
        reason: 'QUOTA',
      },
    )
  if (found.length === 0)
    throw new DomainError('CONFLICT', 'The profile has no READY source to measure: add a text first, or wait until its address is fetched.', {
      reason: 'NO_SOURCES',
    })
}
