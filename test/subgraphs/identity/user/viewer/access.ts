import { type AccessRows, constant, everybody, knownCallers, row, unrelated } from '../../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row('Query.viewer', unrelated, unrelated, everybody, constant('{ viewer { kind } }'), 'viewer'),
    row('Viewer.user', unrelated, unrelated, 'refused nothing nothing yes yes yes yes', constant('{ viewer { user { id } } }'), 'viewer.user'),
    row('Viewer.organization', unrelated, unrelated, knownCallers, constant('{ viewer { organization { id } } }'), 'viewer.organization'),
  ],
}
