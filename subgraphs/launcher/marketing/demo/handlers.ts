import type { Handlers } from '../../../http/handlers.ts'
import { anonymous } from '../../../viewer.ts'
import type { At } from '../../context.ts'
import { momentOf, oneOf, readForm, required } from '../body.ts'
import { bookDemo, cancelDemo, freeSlots } from './book.ts'
import { readPeriod } from './slots.ts'

const members = {
  startsAt: 'text',
  purpose: 'text',
  name: 'text',
  email: 'text',
  company: 'text',
  seats: 'number',
  message: 'text',
  timeZone: 'text',
  solution: 'text',
} as const

/** Routes of demos: free slots, a booking, and its end. */
export const demoHandlers = ({ contexts, settings, services: { visitors, clock } }: At): Handlers => ({
  'GET /launcher/api/demo-slots': async request => {
    await visitors.count()
    const { searchParams } = new URL(request.url)
    const period = readPeriod({ from: searchParams.get('from'), to: searchParams.get('to') }, clock.now())
    return Response.json({ timeZone: settings.marketing.demoTimeZone, slots: await freeSlots(contexts.forRequest(anonymous, request), period) })
  },
  'POST /launcher/api/demo-bookings': async (request, viewer) => {
    const { startsAt, purpose, name, email, ...more } = await readForm(request, members)
    const booking = await bookDemo(contexts.forRequest(viewer, request), {
      ...{ startsAt: momentOf(required(startsAt, 'startsAt'), 'startsAt'), purpose: oneOf(purpose, ['DEMO', 'ENTERPRISE'], 'purpose') },
      ...{ name: required(name, 'name'), email: required(email, 'email'), ...more },
    })
    return Response.json({ ...booking, purpose: booking.purpose.toLowerCase() }, { status: 201 })
  },
  'POST /launcher/api/demo-bookings/cancel': async (request, viewer) => {
    const { code } = await readForm(request, { code: 'text' })
    await cancelDemo(contexts.forRequest(viewer, request), required(code, 'code'))
    return Response.json({})
  },
})
