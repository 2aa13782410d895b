import { json, type Row, stamps, table, text, texts, uuid } from '../../../platform/sql/table.ts'
import { store } from '../../store/store.ts'

const { createdBy: _, ...times } = stamps

export const serviceEntries = table('identity.service_entries', {
  id: uuid.key,
  environment: text,
  slug: text,
  appId: text,
  title: text,
  contexts: texts,
  icon: text,
  scopes: json.of<readonly { readonly name: string; readonly meaning: string }[]>(),
  asks: texts,
  widgetAudience: text.maybe,
  lifecycle: text,
  /** Role, such as `graphql` or `rest`, to address. */
  addresses: json.of<Readonly<Record<string, string>>>(),
  /** `platform`, or the organization that entered it. */
  owner: text,
  ...times,
})

export type ServiceEntryRow = Row<typeof serviceEntries>

export const serviceEntryStore = store(serviceEntries, {
  what: 'service',
  tenancy: { everybody: 'the registry says what the platform offers, which is the same for everybody' },
  manyBy: { environment: 't.slug' },
})
