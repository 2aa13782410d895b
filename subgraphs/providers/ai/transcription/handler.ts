import type { Ai } from '../../engines/models/engine.ts'
import { bytesOf } from '../wire/fields.ts'
import { wholeHandler } from '../wire/handler.ts'
import { readForm } from './form.ts'
import { readTranscriptionRequest } from './request.ts'
import { transcribe } from './transcribe.ts'

/** Members of a provider's answer that clients receive, as far as present. */
const told = ['text', 'usage', 'task', 'language', 'duration', 'segments', 'words'] as const

/** Handles transcriptions in OpenAI's protocol. */
export const transcriptionHandler = (ai: Ai) =>
  wholeHandler(ai, {
    operation: 'TRANSCRIPTIONS',
    read: async request => readTranscriptionRequest(readForm(request.headers.get('content-type') ?? '', await bytesOf(request))),
    make: transcribe,
    write: ({ answer }, { format }) => (format === 'text' ? answer.text : Object.fromEntries(told.map(name => [name, answer.answer[name]]))),
  })
