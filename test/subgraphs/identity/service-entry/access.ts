import { type AccessRows, all, change, constant, everybody, knownCallers, publicRoute, row, services, unrelated } from '../../../access/row.ts'

const none = 'empty empty empty empty empty empty empty'

export const access: AccessRows = {
  async made({ graph }) {
    const [entry] = await graph.rows<{ id: string }>(
      `update identity.service_entries set maintenance_until = now() + interval '30 days', maintenance_message = 'Moves to another host'
        where slug = 'publishing' returning id`,
    )
    return { service: entry!.id }
  },
  fields: [
    row('Query.service', unrelated, unrelated, everybody, constant('{ service(slug: "publishing") { slug } }'), 'service'),
    row('Query.services', unrelated, unrelated, knownCallers, constant('{ services { slug } }'), 'services'),
    row(
      'Mutation.setServiceMaintenance',
      all,
      unrelated,
      services,
      change('setServiceMaintenance', ({ service }) => `serviceId: "${service}"`, 'id'),
      'setServiceMaintenance',
    ),
    row('ServiceEntry.scopes', unrelated, unrelated, knownCallers, constant('{ service(slug: "publishing") { scopes { name } } }'), 'service.scopes'),
    // No service has one yet.
    row('ServiceEntry.mobileApps', unrelated, unrelated, none, constant('{ service(slug: "publishing") { mobileApps { appId } } }'), 'service.mobileApps'),
  ],
  routes: [{ at: 'GET /identity/api/services/:slug', scopes: unrelated, less: unrelated, cells: publicRoute, path: () => '/identity/api/services/publishing' }],
}
