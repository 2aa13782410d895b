import { change } from '../../../store/write.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { Resolvers, UpdateLeadInput } from '../../resolvers.generated.ts'
import type { LeadRow } from '../../stores/lead.ts'
import { type GivenContact, type GivenWaiting, readContact, readWaiting, updating } from './rules.ts'
import { type LeadWriting, submit, type Visit } from './submit.ts'

/** Takes a message of a visitor. */
export const submitContact = (context: LeadWriting, input: GivenContact & Visit): Promise<LeadRow> => submit(context, { input, read: () => readContact(input) })

/** Puts an address on a waitlist; one that is on it already stays as it is. */
export const joinWaitlist = (context: LeadWriting, input: GivenWaiting & Visit): Promise<LeadRow> =>
  submit(context, {
    input,
    read: () => readWaiting(input),
    standing: ({ email, product = null }, { transaction }) => context.leads.lockWaiting(email, product, transaction),
  })

function update(context: Context, { id, expectedVersion, ...wanted }: UpdateLeadInput): Promise<LeadRow> {
  const tenantId = activeOrganization(context.viewer, 'Leads')
  const changes = updating(wanted)
  return change(context, {
    of: context.leads,
    id,
    expectedVersion,
    decide: () => changes,
    audit: ({ after }) => ({ tenantId, action: 'lead.updated', subjectId: after.id, details: { status: after.status, fields: Object.keys(changes) } }),
  })
}

export const leadResolvers: Resolvers = {
  Query: {
    lead: (_, { id }, { leads }) => leads.require(id),
    leads: (_, { kind, status, ...page }, { leads }) => leads.filtered({ kind, status }, page),
  },
  Mutation: {
    submitContact: (_, { input }, context) => submitContact(context, input),
    joinWaitlist: (_, { input }, context) => joinWaitlist(context, input),
    updateLead: (_, { input }, context) => update(context, input),
  },
}
