import type { MailData } from '../kinds.ts'
import { type Letter, type Link, nameIn, onceUntil } from './letter.ts'

const and = new Intl.ListFormat('en', { type: 'conjunction' })

/** Mail to a person who is invited into an organization, with or without an account. */
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
