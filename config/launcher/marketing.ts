import { z } from 'zod'
import { readTimeZone } from '../../platform/clock.ts'
import { isMailAddress, toStored } from '../../platform/smtp/mail-address.ts'
import { address } from '../readers.ts'
import { type Start, setting } from '../setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

const mailAddress = z.string().refine(isMailAddress, 'must be a mail address such as sales@example.com').transform(toStored)

const project = z.string().regex(/^[\w-]{1,64}$/, 'must have 1 to 64 letters, digits, _ and -')

const timeZone = z.string().transform((value, context) => {
  try {
    return readTimeZone(value)
  } catch {
    context.addIssue('must be a name of the IANA database such as Europe/Berlin, or UTC')
    return z.NEVER
  }
})

/** The marketing site: its leads, its demos, and what visitors decide about cookies. */
export const marketing = {
  consentUrl: setting('CONSENT_URL', address, {
    fallback: null,
    without: "decisions about cookies are kept here alone; the sandbox's in the demo",
    by: subgraphs,
    does: 'Address of the consent service, which receives what visitors of the marketing site decide about cookies.',
  }),
  consentProject: setting('CONSENT_PROJECT', project, {
    fallback: 'marketing',
    by: subgraphs,
    does: 'Project of the consent service to which decisions belong.',
  }),
  developersWebUrl: setting('DEVELOPERS_WEB_URL', address, {
    fallback: null,
    without: 'people who want to publish apps are sent to `/login?sign_up=1`',
    by: ['all', 'router', 'subgraph'],
    does: "Address of the developer platform's pages, at whose `/signup` people sign up who want to publish apps.",
  }),
  demoTimeZone: setting('DEMO_TIME_ZONE', timeZone, {
    fallback: 'UTC',
    by: subgraphs,
    does: 'Time zone of demos: they begin every half hour, Monday to Friday from 09:00 to 17:00.',
  }),
  leadsMailTo: setting('LEADS_MAIL_TO', mailAddress, {
    fallback: null,
    without: 'nobody is mailed; `leads@demo.test` in the demo',
    by: subgraphs,
    does: 'Mail address that receives each new lead of the marketing site and each demo that is cancelled. The mails leave through the gateway, on the account of the organization `admin`.',
  }),
}
