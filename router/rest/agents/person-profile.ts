import { listBody } from '../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { tagOfVersion } from '../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../row.ts'
import {
  type CreatePersonProfileInput,
  RestCreatePersonProfileDocument,
  RestPersonProfileDocument,
  type RestPersonProfileQuery,
  RestPersonProfilesDocument,
  type RestPersonProfilesQueryVariables,
} from './person-profile.generated.ts'

type GraphProfile = NonNullable<RestPersonProfileQuery['personProfile']>

/** A person profile as routes answer it: the graph's names, enum values in lower case, what it leads to by id. */
const toRest = ({ subject, organization, activeSnapshot, authorizations, ...profile }: GraphProfile) => ({
  ...profile,
  status: fromEnum(profile.status),
  authorizations: authorizations.map(authorization => ({ ...authorization, kind: fromEnum(authorization.kind) })),
  subjectId: subject?.id ?? null,
  organizationId: organization?.id ?? null,
  activeSnapshotId: activeSnapshot?.id ?? null,
})

/** One profile with its version as entity tag, which `If-Match` takes back. */
const one = (profile: GraphProfile | null | undefined): RowReply | null =>
  profile ? { headers: { etag: tagOfVersion(profile.version) }, body: toRest(profile) } : null

const authorizationOf = (given: unknown) => (typeof given === 'object' && given !== null && 'kind' in given ? { ...given, kind: toEnum(given.kind) } : given)

export const personProfileRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/person-profiles',
    operation: RestPersonProfilesDocument,
    query: ['subjectId', 'status', 'first', 'after'],
    variables: ({ query }) => ({ ...query, status: toEnum(query.status), first: toInteger(query.first) }) as RestPersonProfilesQueryVariables,
    reply: ({ personProfiles }) => personProfiles && { body: listBody('personProfiles', personProfiles, toRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/person-profiles',
    operation: RestCreatePersonProfileDocument,
    body: ['subjectId', 'displayName', 'status', 'writingStyle', 'speakingStyle', 'personaRules', 'usagePolicies', 'authorizations', 'voiceProfiles'],
    variables: ({ body, idempotencyKey }) => {
      const { status, authorizations } = body
      const cased = {
        ...('status' in body && { status: toEnum(status) }),
        ...('authorizations' in body && { authorizations: Array.isArray(authorizations) ? authorizations.map(authorizationOf) : authorizations }),
      }
      return { input: { ...body, ...cased, idempotencyKey } as CreatePersonProfileInput }
    },
    reply: ({ createPersonProfile }) => {
      const made = one(createPersonProfile)
      return made && { ...made, status: 201, headers: { ...made.headers, location: `/agents/api/person-profiles/${createPersonProfile!.id}` } }
    },
  }),
  operationRow({
    method: 'GET',
    path: '/api/person-profiles/:id',
    operation: RestPersonProfileDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ personProfile }) => one(personProfile),
  }),
]
