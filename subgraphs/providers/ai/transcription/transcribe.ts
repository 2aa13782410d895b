import type { Engine } from '../../engines/models/engine.ts'
import { type Asking, type Made, makeInOnePiece } from '../one-piece.ts'
import { bodyOfTranscription, readTranscriptionAnswer, type TranscriptionAnswer, type TranscriptionRequest, tokensASecond } from './request.ts'

/** Maximum tokens that a model of this kind adds to its input. */
const frameTokens = 100

/** Transcribes a recording. @throws DomainError */
export const transcribe = (engine: Engine, request: TranscriptionRequest, asking: Asking): Promise<Made<TranscriptionAnswer>> =>
  makeInOnePiece(engine, asking, {
    ...{ capability: 'TRANSCRIPTION', operation: 'audio.transcriptions', named: request.model, prompt: request.file.name },
    // For models billed by tokens, input is the audio and the prompt.
    bound: { seconds: request.longestSeconds, inputBytes: request.longestSeconds * tokensASecond + Buffer.byteLength(request.prompt ?? '') + frameTokens },
    least: () => ({ inputTokens: request.usualSeconds * tokensASecond, outputTokens: 0, units: request.usualSeconds }),
    path: '/audio/transcriptions',
    body: ({ upstream }) => bodyOfTranscription(request, upstream),
    read: json => readTranscriptionAnswer(json, request),
    // Billed as the provider counts: one that bills whole seconds says so in its usage.
    used: ({ reportedSeconds, inputTokens, outputTokens }) => ({ inputTokens, outputTokens, units: reportedSeconds }),
  })
