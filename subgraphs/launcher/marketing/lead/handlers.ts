import type { Handlers } from '../../../http/handlers.ts'
import type { At } from '../../context.ts'
import { oneOf, readForm, required } from '../body.ts'
import { joinWaitlist, submitContact } from './resolvers.ts'

const said = { name: 'text', email: 'text', solution: 'text' } as const

/** Routes of the marketing site's forms, and the challenge that they ask for. */
export const leadHandlers = ({ contexts, services: { visitors } }: At): Handlers => ({
  'GET /launcher/api/challenge': async () => {
    await visitors.count()
    return Response.json(await visitors.challenge())
  },
  'POST /launcher/api/contact': async (request, viewer) => {
    const members = { ...said, kind: 'text', message: 'text', topic: 'text', page: 'text', website: 'text' } as const
    const { kind, name, email, message, ...more } = await readForm(request, members)
    const { id } = await submitContact(contexts.forRequest(viewer, request), {
      ...{ kind: oneOf(kind, ['CONTACT', 'FEEDBACK'], 'kind'), name: required(name, 'name'), email: required(email, 'email') },
      ...{ message: required(message, 'message'), ...more },
    })
    return Response.json({ id }, { status: 202 })
  },
  'POST /launcher/api/waitlist': async (request, viewer) => {
    const { email, ...more } = await readForm(request, { ...said, product: 'text' })
    await joinWaitlist(contexts.forRequest(viewer, request), { email: required(email, 'email'), ...more })
    return Response.json({}, { status: 202 })
  },
})
