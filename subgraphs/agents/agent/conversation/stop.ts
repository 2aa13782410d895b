import { write } from '../../../store/write.ts'
import { actorOf, personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { announceMessage } from '../../engines/talk/announce.ts'
import type { StopReplyInput } from '../../resolvers.generated.ts'
import type { ConversationMessageRow } from '../../stores/talk/message.ts'
import { announceStopped, stopBelow, stopInside } from '../../workflow/run/change.ts'
import { stoppedNotice } from './rules.ts'

/** Stops a reply, and the run that writes it where its agent calls tools: when it is answered, nothing of them begins any more. */
export async function stopReply(context: Context, input: StopReplyInput): Promise<ConversationMessageRow> {
  let reply = await context.conversationMessages.require(input.id)
  const actor = actorOf(context.viewer)
  const job = context.jobFor(actor)
  const notice = stoppedNotice(personOf(actor) !== null)
  while (reply.role === 'AGENT' && reply.status === 'STREAMING') {
    const { runId }: ConversationMessageRow = reply
    const stopped = await write(job, {
      async run(unit) {
        // The run is locked before its reply, as where it ends by itself.
        const run = runId === null ? null : await job.runs.lock(runId, unit.transaction)
        const ended = await job.conversationMessages.stop(reply, notice, unit)
        // Null: it has ended meanwhile, or was handed over to a run.
        reply = ended ?? (await job.conversationMessages.lock(reply.id, unit.transaction))!
        return ended && { ended, withRun: run && (await stopInside(job, run, unit)) }
      },
      audit: ({ ended: { id, organizationId, conversationId } }) => ({
        ...{ tenantId: organizationId, action: 'message.stopped', subjectId: id },
        details: { conversationId, runId },
      }),
      announce({ ended, withRun }) {
        announceMessage(job.events, ended)
        if (withRun) announceStopped(job, withRun)
      },
    })
    if (stopped?.withRun) await stopBelow(job, stopped.withRun.run)
  }
  return reply
}
