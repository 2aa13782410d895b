import { type AccessRows, all, constant, people, row, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [row('User.email', all, unrelated, people, constant('{ viewer { user { email } } }'), 'viewer.user.email')],
}
