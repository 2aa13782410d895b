import { type AccessRows, constant, knownCallers, row, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row('Query.service', unrelated, unrelated, knownCallers, constant('{ service(slug: "publishing") { slug } }'), 'service'),
    row('Query.services', unrelated, unrelated, knownCallers, constant('{ services { slug } }'), 'services'),
  ],
}
