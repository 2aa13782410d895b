import { DomainError } from '../../../../platform/errors.ts'
import { readText, requireId, requireName, requireText } from '../../../../platform/ids.ts'
import { notFound } from '../../../store/store.ts'
import type { CreatePersonProfileInput, UpdatePersonProfileInput } from '../../resolvers.generated.ts'
import type { PersonProfileRow, SpeakingStyle, UsagePolicy, Voice, WritingStyle } from '../../stores/person-profile.ts'

/** What a profile may hold, in entries and in characters. */
export const most = { name: 200, words: 500, list: 100, policies: 50, authorizations: 50, voices: 20, styleBytes: 65_536 } as const

type Maybe<Value> = Value | null | undefined

/** The texts that people have written for a profile, in stored form. */
export interface ProfileWords {
  readonly displayName: string
  readonly writingStyle: WritingStyle
  readonly speakingStyle: SpeakingStyle
  readonly personaRules: readonly string[]
  readonly usagePolicies: readonly UsagePolicy[]
  readonly voiceProfiles: readonly Voice[]
}

/** An authorization as the input gives it. */
export interface GivenAuthorization {
  readonly kind: NonNullable<CreatePersonProfileInput['authorizations']>[number]['kind']
  readonly reference: string
  readonly grantedBy: string | null
  readonly expiresAt: Date | null
}

/** Reads what a profile is made of. @throws BAD_USER_INPUT with the `field` that cannot be, such as `usagePolicies[2].product` */
export const readProfile = (input: CreatePersonProfileInput): ProfileWords => ({
  displayName: requireName(input.displayName, 'displayName', most.name),
  writingStyle: readWritingStyle(input.writingStyle),
  speakingStyle: readSpeakingStyle(input.speakingStyle),
  personaRules: readTexts(input.personaRules, 'personaRules'),
  usagePolicies: readEach(input.usagePolicies, 'usagePolicies', most.policies, ({ product, purpose, allowed, expiresAt }, at) => ({
    product: requireName(product, `${at}.product`, 100),
    purpose: readText(purpose, `${at}.purpose`, 200),
    allowed,
    expiresAt: expiresAt?.toISOString() ?? null,
  })),
  voiceProfiles: readEach(input.voiceProfiles, 'voiceProfiles', most.voices, ({ provider, externalId, label }, at) => ({
    provider: requireName(provider, `${at}.provider`, 100),
    externalId: requireName(externalId, `${at}.externalId`, 200),
    label: readText(label, `${at}.label`, 200),
  })),
})

/**
 * Reads the changes of a profile: within the styles as well, what is left out stays.
 * @throws BAD_USER_INPUT with the `field` that cannot be
 */
export function readChanges(present: Pick<PersonProfileRow, keyof ProfileWords | 'status'>, input: UpdatePersonProfileInput): Partial<PersonProfileRow> {
  const { displayName, status, writingStyle, speakingStyle, personaRules, usagePolicies, voiceProfiles } = input
  const written = writingStyle && readWritingStyle({ ...present.writingStyle, ...given(writingStyle) })
  const spoken = speakingStyle && readSpeakingStyle({ ...present.speakingStyle, ...given(speakingStyle) })
  const read = readProfile({ displayName: displayName ?? present.displayName, personaRules, usagePolicies, voiceProfiles } as CreatePersonProfileInput)
  return {
    ...(displayName && { displayName: read.displayName }),
    ...(status && { status }),
    ...(written && { writingStyle: written }),
    ...(spoken && { speakingStyle: spoken }),
    ...(personaRules && { personaRules: read.personaRules }),
    ...(usagePolicies && { usagePolicies: read.usagePolicies }),
    ...(voiceProfiles && { voiceProfiles: read.voiceProfiles }),
  }
}

/** The fields of an input that were given: null empties one. */
const given = <Input extends object>(input: Input): Partial<Input> =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Partial<Input>

/** Reads the evidence for a profile. @throws BAD_USER_INPUT with the `field` that cannot be */
export const readAuthorizations = (given: CreatePersonProfileInput['authorizations']): readonly GivenAuthorization[] =>
  readEach(given, 'authorizations', most.authorizations, ({ kind, reference, grantedBy, expiresAt }, at) => ({
    kind,
    reference: requireText(reference, `${at}.reference`, 2_000),
    grantedBy: readText(grantedBy, `${at}.grantedBy`, 200),
    expiresAt: expiresAt ?? null,
  }))

function readWritingStyle(given: CreatePersonProfileInput['writingStyle']): WritingStyle {
  const at = 'writingStyle'
  return ofSize(at, {
    tone: readText(given?.tone, `${at}.tone`, most.words),
    formality: readText(given?.formality, `${at}.formality`, most.words),
    sentenceLength: readText(given?.sentenceLength, `${at}.sentenceLength`, most.words),
    vocabulary: readTexts(given?.vocabulary, `${at}.vocabulary`),
    dos: readTexts(given?.dos, `${at}.dos`),
    donts: readTexts(given?.donts, `${at}.donts`),
    signaturePhrases: readTexts(given?.signaturePhrases, `${at}.signaturePhrases`),
  })
}

function readSpeakingStyle(given: CreatePersonProfileInput['speakingStyle']): SpeakingStyle {
  const at = 'speakingStyle'
  return ofSize(at, {
    pace: readText(given?.pace, `${at}.pace`, most.words),
    cadence: readText(given?.cadence, `${at}.cadence`, most.words),
    fillers: readTexts(given?.fillers, `${at}.fillers`),
    pronunciations: readTexts(given?.pronunciations, `${at}.pronunciations`),
  })
}

function ofSize<Style extends object>(field: string, style: Style): Style {
  const bytes = Buffer.byteLength(JSON.stringify(style))
  if (bytes <= most.styleBytes) return style
  throw new DomainError('BAD_USER_INPUT', `${field} has ${bytes} bytes in all: the maximum is ${most.styleBytes}.`, { field })
}

const readTexts = (given: Maybe<readonly string[]>, field: string): readonly string[] =>
  readEach(given, field, most.list, (words, at) => requireText(words, at, most.words))

function readEach<Given, Read>(given: Maybe<readonly Given[]>, field: string, longest: number, read: (one: Given, at: string) => Read): readonly Read[] {
  const list = given ?? []
  if (list.length > longest) throw new DomainError('BAD_USER_INPUT', `${field} has ${list.length} entries: the maximum is ${longest}.`, { field })
  return list.map((one, index) => read(one, `${field}[${index}]`))
}

/** Checks that a record belongs to the profile that the caller names with it, if any. @throws NOT_FOUND */
export function requireBelow(what: string, { id, profileId }: { readonly id: string; readonly profileId: string }, named: Maybe<string>): void {
  if (named !== null && named !== undefined && requireId(named, 'personProfileId') !== profileId) throw notFound(what, id)
}

/** @throws FORBIDDEN when somebody writes a profile of somebody else without managing the organization */
export function requireMayWriteOf(subjectId: string, { userId, roles }: { readonly userId: string | null; readonly roles: readonly string[] }): void {
  if (subjectId === userId || roles.includes('owner') || roles.includes('admin')) return
  throw new DomainError('FORBIDDEN', 'Only owners and admins may write the profile of another person: ask one of them, or omit subjectId to write your own.')
}
