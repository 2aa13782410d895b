import type { Ai } from '../../engines/models/engine.ts'
import { wholeExchange } from '../wire/exchange.ts'
import { bytesOf } from '../wire/fields.ts'
import { readForm } from './form.ts'
import { readTranscriptionRequest } from './request.ts'
import { transcribe } from './transcribe.ts'

/** What clients read of an answer; what a provider says besides is left out. What is not there is left out too. */
const told = ['text', 'usage', 'task', 'language', 'duration', 'segments', 'words'] as const

/** Transcriptions on OpenAI's wire. */
export const transcriptionExchange = (ai: Ai) =>
  wholeExchange(ai, {
    operation: 'TRANSCRIPTIONS',
    read: async request => readTranscriptionRequest(readForm(request.headers.get('content-type') ?? '', await bytesOf(request))),
    make: transcribe,
    write: ({ answer }, { format }) => (format === 'text' ? answer.text : Object.fromEntries(told.map(name => [name, answer.answer[name]]))),
  })
