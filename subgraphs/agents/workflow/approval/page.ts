import type { DomainError } from '../../../../platform/errors.ts'
import { escaped, htmlPage, isolated } from '../../../http/html.ts'
import type { ApprovalRow } from '../../stores/run/approval.ts'

/** Where a link's decision is sent. */
export const addressOfDecisions = '/agents/api/approvals/link'

const verbs = { APPROVE: 'Approve', EDIT: 'Approve with these arguments', REJECT: 'Reject', RESPOND: 'Send the answer' } as const

const risks = { LOW: 'Low', MEDIUM: 'Medium', HIGH: 'High' } as const

/** Times of a page that anybody opens, wherever they are. */
const clock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' })

/** What somebody with a link sees of an approval. */
export const shownOf = ({ title, description, tool, arguments: given, argumentsHash, allowed, expiresAt }: ApprovalRow) => ({
  ...{ title, description, tool, arguments: given, argumentsHash },
  ...{ allowed: allowed.map(each => each.toLowerCase()), expiresAt: expiresAt.toISOString() },
})

/** The page of a link: what is asked, and a form that decides. */
export function approvalPage(approval: ApprovalRow, code: string): Response {
  const { title, description, tool, counterparty, risk, onExpiry, allowed, argumentsHash, expiresAt } = approval
  const text = JSON.stringify(approval.arguments, null, 2)
  const until = `<time datetime="${expiresAt.toISOString()}">${clock.format(expiresAt)} UTC</time>`
  const expiry = onExpiry === 'APPROVE' ? 'Then it counts as approved.' : 'Then it counts as rejected.'
  const facts = [
    ['Tool', tool && `<code>${escaped(tool)}</code>`],
    ['Counterparty', counterparty && isolated(counterparty)],
    ['Risk', risks[risk]],
    ['Hash', `<code>${escaped(argumentsHash)}</code>`],
    ['Until', `${until}. ${expiry}`],
  ].flatMap(([name, value]) => (value ? [`<dt>${name}</dt><dd>${value}</dd>`] : []))
  const shown = `<h2>What will run</h2><pre>${escaped(text)}</pre><dl>${facts.join('')}</dl>`
  const hidden = Object.entries({ code, argumentsHash }).map(([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`)
  const fields = [
    ...(allowed.includes('EDIT') ? [`<label>Arguments<textarea name="arguments" rows="8">${escaped(text)}</textarea></label>`] : []),
    ...(allowed.includes('RESPOND') ? ['<label>Answer<textarea name="response" rows="4" maxlength="4000"></textarea></label>'] : []),
    '<label>Comment<textarea name="comment" rows="2" maxlength="2000"></textarea></label>',
    ...(allowed as readonly (keyof typeof verbs)[]).map(verdict => `<button name="decision" value="${verdict.toLowerCase()}">${verbs[verdict]}</button>`),
  ]
  const form = `<form method="post" action="${addressOfDecisions}">${[...hidden, ...fields].join('\n')}</form>`
  return htmlPage(200, title, description ?? (tool ? [`May this be done with `, { name: tool }, '?'] : 'Please decide.'), shown + form)
}

/** The page after a decision. */
export const decidedPage = ({ status }: ApprovalRow): Response =>
  htmlPage(200, 'Thank you', status === 'PENDING' ? 'Your decision is noted; others have to decide too.' : `The approval is ${status.toLowerCase()}.`)

/** The page of what was refused. */
export const refusedPage = (status: number, { message }: DomainError): Response => htmlPage(status, 'This cannot be decided', message)
