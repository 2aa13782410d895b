import { newId } from '../../../../platform/ids.ts'
import { type AccessRows, all, change, type Fresh, type Ids, row, type Stage, services, unrelated } from '../../../access/row.ts'
import { subjectAndManagers } from '../person-profile/access.ts'
import { seedProfile } from '../person-profile/seed.ts'

const made = ({ graph, owner }: Stage) => seedProfile(graph, { organizationId: owner.organizationId!, subjectId: owner.userId! })
const profile: Fresh = async stage => (await made(stage)).id
const source: Fresh = async stage => {
  const { id, sourceId } = await made(stage)
  return `${id}/${sourceId}`
}
const authorization: Fresh = async stage => {
  const { id, authorizationId } = await made(stage)
  return `${id}/${authorizationId}`
}
/** Two snapshots that differ. @returns their ids and their profile's */
const snapshots: Fresh = async stage => {
  const { id, snapshotId } = await made(stage)
  const other = newId(stage.graph.clock.now())
  await stage.graph.rows(
    `insert into agents.style_snapshots (profile_id, id, number, source_ids, writing_style, speaking_style, measures, digest, created_at, updated_at, created_by)
     select profile_id, $2, 2, source_ids, writing_style || '{"tone": "warm"}', speaking_style, measures, 'other', created_at, updated_at, created_by
       from agents.style_snapshots where id = $1`,
    [snapshotId, other],
  )
  return `${id}/${snapshotId}/${other}`
}
const part = ({ fresh }: Ids, at: number): string => fresh!.split('/')[at]!

const path = (ids: Ids, more = '') => `/agents/api/person-profiles/${part(ids, 0)}${more}`
const cells = { scopes: all, less: unrelated, cells: subjectAndManagers }
const mutation = (name: string, input: (ids: Ids) => string, fresh: Fresh) =>
  row(`Mutation.${name}`, all, unrelated, subjectAndManagers, change(name, input, 'id'), name, fresh)
const preview = (selection: string) =>
  change('previewPersonProfile', ids => `id: "${part(ids, 0)}", product: "publishing", brief: "step", mode: EXTRACTIVE`, selection)
const previewed = (at: string, selection: string, where: string) => row(at, all, unrelated, subjectAndManagers, preview(selection), where, profile)
const body = () => ({ product: 'publishing', brief: 'step', mode: 'extractive' })
const evidence = () => ({ kind: 'consent', reference: 'a form' })

export const access: AccessRows = {
  fields: [
    mutation('updatePersonProfile', ids => `id: "${ids.fresh}", displayName: "Other"`, profile),
    mutation('erasePersonProfile', ids => `id: "${ids.fresh}"`, profile),
    mutation('addProfileAuthorization', ids => `personProfileId: "${ids.fresh}", kind: CONSENT, reference: "a form"`, profile),
    mutation('revokeProfileAuthorization', ids => `id: "${part(ids, 1)}"`, authorization),
    mutation('deleteProfileSource', ids => `id: "${part(ids, 1)}"`, source),
    mutation('activateStyleSnapshot', ids => `id: "${part(ids, 2)}"`, snapshots),
    row(
      'Query.styleChanges',
      all,
      unrelated,
      subjectAndManagers,
      ids => `{ styleChanges(fromId: "${part(ids, 1)}", toId: "${part(ids, 2)}") { field } }`,
      'styleChanges',
      snapshots,
    ),
    previewed('Mutation.previewPersonProfile', 'text', 'previewPersonProfile'),
    previewed('ProfilePreview.snapshot', 'snapshot { id }', 'previewPersonProfile.snapshot'),
    previewed('ProfilePreview.citations', 'citations { quote }', 'previewPersonProfile.citations'),
    previewed('ProfileCitation.source', 'citations { source { id } }', 'previewPersonProfile.citations.source'),
    row(
      'Mutation.applyPersonProfile',
      all,
      unrelated,
      services,
      change('applyPersonProfile', ids => `id: "${ids.profile}", product: "publishing", brief: "step"`, 'text'),
      'applyPersonProfile',
    ),
  ],
  routes: [
    { at: 'PUT /agents/api/person-profiles/:id', ...cells, path, body: () => ({ displayName: 'Other' }), fresh: profile },
    { at: 'DELETE /agents/api/person-profiles/:id', ...cells, path, fresh: profile },
    { at: 'GET /agents/api/person-profiles/:id/export', ...cells, path: ids => path(ids, '/export'), fresh: profile },
    { at: 'POST /agents/api/person-profiles/:id/preview', ...cells, path: ids => path(ids, '/preview'), body, fresh: profile },
    { at: 'POST /agents/api/person-profiles/:id/authorizations', ...cells, path: ids => path(ids, '/authorizations'), body: evidence, fresh: profile },
    {
      at: 'DELETE /agents/api/person-profiles/:id/authorizations/:authorizationId',
      ...cells,
      path: ids => path(ids, `/authorizations/${part(ids, 1)}`),
      fresh: authorization,
    },
    { at: 'DELETE /agents/api/person-profiles/:id/sources/:sourceId', ...cells, path: ids => path(ids, `/sources/${part(ids, 1)}`), fresh: source },
    {
      at: 'GET /agents/api/person-profiles/:id/style/changes',
      ...cells,
      path: ids => path(ids, `/style/changes?from=${part(ids, 1)}&to=${part(ids, 2)}`),
      fresh: snapshots,
    },
  ],
}
