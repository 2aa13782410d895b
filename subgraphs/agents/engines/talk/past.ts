import { type ConversationMessageRow, stoppedCode } from '../../stores/talk/message.ts'
import type { Message } from '../model/models.ts'

/** How many messages of the past a model is told. */
const maxPast = 20

type Said = Pick<ConversationMessageRow, 'id' | 'role' | 'text' | 'status' | 'failureCode' | 'answersId' | 'createdAt'>

/** What stands for a reply that is not whole: without it a model takes the question for an open one, and does once more what it asks for. */
const unfinished = {
  FAILED: '(This reply was cut off. What the message asked for may have been done: do nothing about it unless you are asked again.)',
  STOPPED: '(A person stopped this reply. What the message asked for may have been done in part: do nothing about it unless you are asked again.)',
  STREAMING: '(This message is answered elsewhere: do nothing about it.)',
} as const

const isBefore = (one: Said, other: Said): boolean =>
  one.createdAt < other.createdAt || (one.createdAt.getTime() === other.createdAt.getTime() && one.id < other.id)

function replyTo(reply: Said | undefined): Message {
  if (reply?.status === 'STREAMING') return { role: 'ASSISTANT', content: unfinished.STREAMING }
  const isStopped = reply?.failureCode === stoppedCode
  if (reply?.status === 'COMPLETE' && !isStopped) return { role: 'ASSISTANT', content: reply.text }
  const end = isStopped ? unfinished.STOPPED : unfinished.FAILED
  return { role: 'ASSISTANT', content: [reply?.text ?? '', end].filter(text => text !== '').join('\n\n') }
}

/**
 * What was said before a message, as models are told it: each message of a person with its reply behind it, also where several were answered at once.
 * @param around messages of the conversation, the oldest first
 */
export function pastOf(said: Said, around: readonly Said[]): readonly Message[] {
  const past = around.filter(each => each.id !== said.id && isBefore(each, said))
  const replies = new Map(around.flatMap(each => (each.answersId === null ? [] : [[each.answersId, each] as const])))
  const told = past.flatMap((each, at): Message[] => {
    if (each.role === 'AGENT') return each.answersId === null && each.status === 'COMPLETE' ? [{ role: 'ASSISTANT', content: each.text }] : []
    // Replies of earlier versions do not say what they answer: they are behind it.
    const next = past[at + 1]
    const isAnswered = !replies.has(each.id) && next?.role === 'AGENT' && next.answersId === null && next.status === 'COMPLETE'
    const question: Message = { role: 'USER', content: each.text }
    return isAnswered ? [question] : [question, replyTo(replies.get(each.id))]
  })
  const last = told.slice(-maxPast)
  // A reply without its question says nothing.
  return last[0]?.role === 'ASSISTANT' ? last.slice(1) : last
}
