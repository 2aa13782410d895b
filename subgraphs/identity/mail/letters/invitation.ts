import type { MailData } from '../kinds.ts'
import { type Letter, type Link, nameIn, onceUntil } from './letter.ts'

const and = new Intl.ListFormat('en', { type: 'conjunction' })

/** To whom is invited into an organization, whether they have an account or not. */
export const invitation = ({ organization, invitedBy, roles }: MailData['invitation'], link: Link): Letter => {
  const [name, by] = [nameIn(organization), invitedBy === null ? null : nameIn(invitedBy)]
  return {
    subject: `Invitation to ${name}`,
    says: [
      by === null ? `You are invited to join the organization ${name}.` : `${by} has invited you to join the organization ${name}.`,
      ...(roles.length > 0 ? [`There you will be: ${and.format(roles.map(role => role.toLowerCase().replaceAll('_', ' ')))}.`] : []),
    ],
    link: { label: 'See the invitation', url: link.url, note: onceUntil(link) },
    closing: 'If you do not know what this is about, do nothing: you join only if you accept.',
  }
}
