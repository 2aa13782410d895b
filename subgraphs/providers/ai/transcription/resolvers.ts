import { claimed } from '../../../store/claim.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { shownInGraph } from '../one-piece.ts'
import { askingOf } from '../wire/asking.ts'
import { fetchRecording } from './fetch.ts'
import { readTranscriptionRequest } from './request.ts'
import { transcribe } from './transcribe.ts'

export const transcriptionResolvers: Resolvers = {
  Mutation: {
    async createTranscription(_, { input }, context) {
      const { fallback, audioUrl, model, language, prompt } = input
      const asking = await askingOf(context, 'TRANSCRIPTIONS', { fallback, signal: context.leaving })
      const given = Object.entries({ model, language, prompt }).filter((field): field is [string, string] => typeof field[1] === 'string')
      // Other mistakes are reported before anything is fetched.
      const read = (bytes: Uint8Array, name: string, type: string) =>
        readTranscriptionRequest({ fields: Object.fromEntries(given), files: { file: { name, type, bytes } } })
      read(new Uint8Array(1), '', '')
      const claim = { what: 'transcription', once: { ...input, audioUrl: audioUrl.href }, tenantId: asking.caller.organizationId }
      const made = await claimed(context, claim, async () => {
        const { name, type, bytes } = await fetchRecording(
          { stream: context.callersWay.outbound.stream, reaches: context.callersWay.reaches },
          audioUrl,
          context.leaving,
        )
        return transcribe(context.ai, read(bytes, name, type), asking)
      })
      return { ...shownInGraph(made), text: made.answer.text, seconds: made.answer.seconds }
    },
  },
}
