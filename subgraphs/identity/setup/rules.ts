import { DomainError } from '../../../platform/errors.ts'
import { isMailAddress, mailAddressSentence, toStored } from '../../../platform/smtp/mail-address.ts'
import { readNewPassword } from '../credentials/password.ts'
import { readName, readSlug } from '../organization/rules.ts'
import { platformOrganization } from '../stores/user.ts'
import type { World } from './world.ts'

/** Path of the set-up page; the link adds `?code=`. */
export const setupPath = '/identity/setup'

/**
 * Reads the form into the first person and organization. That person owns the organization, and may administer the platform.
 * @param hasPassword whether people sign in here
 * @throws BAD_USER_INPUT, FORBIDDEN with the sentence that the page shows
 */
export function readForm(form: URLSearchParams, hasPassword = true): World {
  const field = (name: string) => form.get(name) ?? ''
  const name = readName(field('name'), 'Your name')
  const organization = readName(field('organization'), 'The organization')
  const email = toStored(field('email').trim())
  if (!isMailAddress(email)) throw new DomainError('BAD_USER_INPUT', `The mail address is missing, or is none that can sign in: it is ${mailAddressSentence}.`)
  const password = hasPassword ? readNewPassword(field('password'), 'The password', email) : null
  return {
    password,
    people: [{ email, name }],
    organizations: [
      { slug: readSlug(slugOf(organization)), name: organization, members: [{ email, roles: ['owner'] }] },
      { slug: platformOrganization, name: 'Platform administration', members: [{ email, roles: ['platform_super_admin'] }] },
    ],
    keys: [],
  }
}

/**
 * Derives a slug from a name: its letters without accents, in lower case, and digits; `organization` when nothing is
 * left.
 */
function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-|-$/g, '')
  return slug || 'organization'
}
