import { DomainError } from '../../../../platform/errors.ts'
import type { PageInfo } from '../../../../platform/page.ts'
import type { Handlers } from '../../../http/handlers.ts'
import { isPerson, personOf, type Viewer } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { PersonProfileRow } from '../../stores/person-profile.ts'
import type { ProfileAuthorizationRow } from '../../stores/profile-authorization.ts'
import type { ProfileSourceRow } from '../../stores/profile-source.ts'
import type { StyleSnapshotRow } from '../../stores/style-snapshot.ts'

/** Rows that are read at once: texts of sources have up to 200,000 characters. */
const atOnce = 10

const profileOf = (profile: PersonProfileRow, authorizations: readonly ProfileAuthorizationRow[]) => {
  const { createdBy, ...facts } = profile
  return {
    ...facts,
    status: facts.status.toLowerCase(),
    createdById: personOf(createdBy),
    authorizations: authorizations.map(({ profileId: _, createdBy: by, version: __, kind, ...more }) => ({
      ...more,
      kind: kind.toLowerCase(),
      createdById: personOf(by),
    })),
  }
}

const sourceOf = ({ id, kind, title, url, contentHash, language, status, failure, createdBy, createdAt }: ProfileSourceRow, text: string | null) => ({
  ...{ id, kind: kind.toLowerCase(), title, url, text, contentHash, language, status: status.toLowerCase(), failure },
  ...{ capturedById: personOf(createdBy), capturedAt: createdAt },
})

const snapshotOf = ({ profileId: _, digest: __, version: ___, updatedAt: ____, createdBy, ...snapshot }: StyleSnapshotRow) => ({
  ...snapshot,
  createdById: personOf(createdBy),
})

/** Reads a list below a profile page by page, as pieces of a JSON list. */
function listOf<Row>(
  read: (after: string | null) => Promise<{ readonly nodes: readonly Row[]; readonly pageInfo: PageInfo }>,
  shown: (rows: readonly Row[]) => Promise<readonly object[]>,
): () => Promise<string | null> {
  let [after, isOver, comma] = [null as string | null, false, '']
  return async () => {
    if (isOver) return null
    const { nodes, pageInfo } = await read(after)
    after = pageInfo.endCursor
    isOver = !pageInfo.hasNextPage
    const entries = (await shown(nodes)).map(entry => JSON.stringify(entry)).join(',')
    const piece = `${entries && comma}${entries}`
    comma = entries ? ',' : comma
    return piece
  }
}

/** Pieces of the document, each read when it is asked for; null at the end. */
function piecesOf({ profileAuthorizations, profileSources, styleSnapshots }: Context, profile: PersonProfileRow): () => Promise<string | null> {
  const { id } = profile
  const once = (make: () => string | Promise<string>) => {
    let isOver = false
    return async () => {
      if (isOver) return null
      isOver = true
      return make()
    }
  }
  const sources = listOf<ProfileSourceRow>(
    after => profileSources.page('ofProfile', id, { first: atOnce, after }),
    async rows => {
      const texts = await profileSources.readyTexts(
        id,
        rows.map(row => row.id),
      )
      return rows.map(row => sourceOf(row, texts.find(({ sourceId }) => sourceId === row.id)?.text ?? null))
    },
  )
  const snapshots = listOf<StyleSnapshotRow>(
    after => styleSnapshots.page('ofProfile', id, { first: atOnce, after }),
    async rows => rows.map(snapshotOf),
  )
  const head = once(async () => `{"profile":${JSON.stringify(profileOf(profile, await profileAuthorizations.manyBy('profileId').load(id)))},"sources":[`)
  const parts = [head, sources, once(() => '],"snapshots":['), snapshots, once(() => ']}')]
  return async () => {
    for (; parts[0]; parts.shift()) {
      const piece = await parts[0]()
      if (piece !== null) return piece
    }
    return null
  }
}

/** Answers everything that a profile holds as one JSON document, for whoever may see the profile. */
export const exportHandlers = (forRequest: (viewer: Viewer, request: Request) => Context): Handlers => ({
  'GET /agents/api/person-profiles/**': async (request, viewer) => {
    const [, id] = /^\/agents\/api\/person-profiles\/([^/]+)\/export$/.exec(new URL(request.url).pathname) ?? []
    if (id === undefined) throw new DomainError('NOT_FOUND', 'There is nothing at this path.')
    if (!isPerson(viewer) || !viewer.scopes.includes('agents:knowledge.read'))
      throw new DomainError('FORBIDDEN', 'Profiles are exported by people with the scope agents:knowledge.read.')
    const context = forRequest(viewer, request)
    const profile = await context.personProfiles.require(id)
    const encoder = new TextEncoder()
    const next = piecesOf(context, profile)
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const piece = await next()
        if (piece === null) controller.close()
        else controller.enqueue(encoder.encode(piece))
      },
    })
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-disposition': `attachment; filename="person-profile-${profile.id}.json"` }
    return new Response(body, { headers })
  },
})
