import { agingOfKeys, agingOfRecord } from '../../store/books.ts'
import type { Noun } from '../../wiring/define.ts'
import type { ClientDirectory } from '../stores/administration/clients.ts'
import { auditResolvers } from './audit/resolvers.ts'
import { organizationResolvers } from './organization/resolvers.ts'
import { serviceClientResolvers } from './service-client/resolvers.ts'

interface At {
  readonly settings: { readonly retention: { readonly auditDays: number } }
  readonly services: { readonly clients: ClientDirectory }
}

/** Service clients, settings of organizations, and the audit log. */
export const administrationNouns: Readonly<Record<string, Noun<At>>> = {
  audit: {
    resolvers: auditResolvers,
    retention: ({ settings }) => [agingOfRecord('providers', settings.retention.auditDays), agingOfKeys('providers', 7, 'mail')],
  },
  organization: { resolvers: organizationResolvers },
  serviceClient: { resolvers: serviceClientResolvers, stop: ({ services: { clients } }) => clients.settle() },
}
