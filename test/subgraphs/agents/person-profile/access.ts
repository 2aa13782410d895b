import { type AccessRows, all, change, constant, people, row, unrelated } from '../../../access/row.ts'
import { seedProfile } from './seed.ts'

/** A profile of the owner is nobody else's to see, and no key's. */
export const subjectAndManagers = 'refused refused refused hidden hidden yes hidden'
const body = () => ({ displayName: 'New' })

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    // Everybody has one of their own, so that no list is empty.
    for (const { organizationId } of [outsider, owner])
      for (const { subject } of await graph.rows<{ subject: string }>('select user_id as subject from identity.memberships where organization_id = $1', [
        organizationId,
      ]))
        await seedProfile(graph, { organizationId: organizationId!, subjectId: subject })
    const { id, sourceId, snapshotId } = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: owner.userId! })
    return { profile: id, profileSource: sourceId, styleSnapshot: snapshotId }
  },
  fields: [
    row('Query.personProfile', all, unrelated, subjectAndManagers, ({ profile }) => `{ personProfile(id: "${profile}") { id } }`, 'personProfile'),
    row('Query.personProfiles', all, unrelated, people, constant('{ personProfiles { nodes { id } } }'), 'personProfiles'),
    row(
      'Mutation.createPersonProfile',
      all,
      unrelated,
      people,
      change('createPersonProfile', () => 'displayName: "New"', 'id'),
      'createPersonProfile',
    ),
  ],
  routes: [
    {
      at: 'GET /agents/api/person-profiles',
      scopes: all,
      less: unrelated,
      cells: people,
      path: () => '/agents/api/person-profiles',
    },
    { at: 'POST /agents/api/person-profiles', scopes: all, less: unrelated, cells: people, path: () => '/agents/api/person-profiles', body },
    {
      at: 'GET /agents/api/person-profiles/:id',
      scopes: all,
      less: unrelated,
      cells: subjectAndManagers,
      path: ({ profile }) => `/agents/api/person-profiles/${profile}`,
    },
  ],
}
