import { createHash } from 'node:crypto'
import type { Reply } from '../network.ts'
import { json } from '../network.ts'
import { type Asked, type InOrder, isReply, modelOf } from './openai-asked.ts'
import { refuse } from './openai-problems.ts'
import { png } from './png.ts'
import { isObject, newId } from './taken.ts'
import { secondsOfWav } from './wav.ts'
import { vectorOf, wordsOf } from './words.ts'

const sizes = ['1024x1024', '1536x1024', '1024x1536']

const wrong = (message: string, param: string, code: string | null = 'invalid_value'): Reply => refuse(400, message, { param, code })

/**
 * Answers POST /v1/images/generations: https://platform.openai.com/docs/api-reference/images/create. It draws PNG only,
 * in a colour derived from the prompt.
 */
export function images({ stall, call, key, body }: Asked): InOrder | Reply {
  const model = modelOf(body, 'image')
  if (isReply(model)) return model
  const { prompt, n = 1, size: asked = 'auto', output_format: format = 'png', background = 'auto', quality = 'auto', response_format: unknown } = body
  if (typeof prompt !== 'string' || prompt === '') return wrong("Missing required parameter: 'prompt'.", 'prompt', 'missing_required_parameter')
  if (unknown !== undefined) return wrong("Unknown parameter: 'response_format'.", 'response_format', 'unknown_parameter')
  if (!Number.isInteger(n) || (n as number) < 1 || (n as number) > 10) return wrong("Invalid value for 'n': expected a value from 1 to 10.", 'n')
  if (asked !== 'auto' && !sizes.includes(String(asked)))
    return wrong(`Invalid value: '${asked}'. Supported values are: ${sizes.map(each => `'${each}'`).join(', ')}, and 'auto'.`, 'size')
  if (format !== 'png') return wrong(`The sandbox draws no ${format}: take png.`, 'output_format')
  const size = asked === 'auto' ? '1024x1024' : String(asked)
  return {
    take() {
      stall.note(call, key, { id: newId('img_'), model: model.id, text: prompt, stream: false })
      const [width, height] = size.split('x').map(Number) as [number, number]
      const data = Array.from({ length: n as number }, (_, at) => {
        const [red, green, blue] = createHash('sha256').update(`${at} ${prompt}`).digest()
        return { b64_json: png(width, height, [red!, green!, blue!], background === 'transparent').toString('base64') }
      })
      const [read, drawn] = [wordsOf(prompt).length, 272 * data.length]
      const answer = {
        created: Math.floor(stall.deps.clock.now().getTime() / 1000),
        background: background === 'transparent' ? 'transparent' : 'opaque',
        output_format: 'png',
        quality: quality === 'auto' ? 'low' : quality,
        size,
        data,
        usage: { total_tokens: read + drawn, input_tokens: read, input_tokens_details: { text_tokens: read, image_tokens: 0 }, output_tokens: drawn },
      }
      return json(200, answer, 'accepted')
    },
  }
}

/**
 * Answers POST /v1/audio/transcriptions: https://platform.openai.com/docs/api-reference/audio/createTranscription. The
 * transcript is the file's name; its duration comes from the header of a WAV file and is one second for every other
 * kind. Every model reports seconds, also those that report tokens at the real vendor.
 */
export function transcriptions({ stall, call, key, body }: Asked): InOrder | Reply {
  const model = modelOf(body, 'transcription')
  if (isReply(model)) return model
  const { file, response_format: format = 'json', language } = body
  const sound = isObject(file) && Buffer.isBuffer(file.bytes) ? { name: String(file.name), bytes: file.bytes } : null
  if (!sound) return wrong("Missing required parameter: 'file'.", 'file', 'missing_required_parameter')
  if (sound.bytes.length > 25 * 1024 * 1024)
    return refuse(413, `Maximum content size limit (26214400) exceeded (${sound.bytes.length} bytes read)`, { type: 'server_error' })
  if (sound.bytes.length === 0) return wrong('Audio file might be corrupted or unsupported', 'file')
  const takes = model.id === 'whisper-1' ? ['json', 'text', 'verbose_json'] : ['json', 'text']
  if (!takes.includes(String(format)))
    return wrong(
      `response_format '${format}' is not compatible with model '${model.id}'. Use ${takes.map(each => `'${each}'`).join(' or ')} instead.`,
      'response_format',
      'unsupported_value',
    )
  const seconds = secondsOfWav(sound.bytes) ?? 1
  return {
    take() {
      stall.note(call, key, { id: newId('tr_'), model: model.id, text: sound.name, stream: false })
      const text = `Echo: ${sound.name}`
      const usage = { type: 'duration', seconds }
      if (format === 'text') return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${text}\n`, outcome: 'accepted' }
      if (format === 'json') return json(200, { text, usage }, 'accepted')
      const part = { id: 0, seek: 0, start: 0, end: seconds, text, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 }
      return json(200, { task: 'transcribe', language: language ?? 'english', duration: seconds, text, segments: [part], usage }, 'accepted')
    },
  }
}

/**
 * Answers POST /v1/embeddings: https://platform.openai.com/docs/api-reference/embeddings/create. Vectors have
 * length 1, and are near to each other where texts share words.
 */
export function embeddings({ stall, call, key, body }: Asked): InOrder | Reply {
  const model = modelOf(body, 'embedding')
  if (isReply(model)) return model
  const { input, encoding_format: encoding = 'float', dimensions = 1536 } = body
  if (input === undefined) return wrong("Missing required parameter: 'input'.", 'input', 'missing_required_parameter')
  const texts = textsIn(input)
  if (!texts) return wrong("'input' is invalid: give 1 to 2048 texts that are not empty, or their tokens.", 'input', null)
  if (!Number.isInteger(dimensions) || (dimensions as number) < 1 || (dimensions as number) > 1536)
    return wrong("Invalid value for 'dimensions': expected a value from 1 to 1536.", 'dimensions')
  return {
    take() {
      stall.note(call, key, { id: newId('emb_'), model: model.id, text: texts.join('\n'), stream: false })
      const data = texts.map((text, index) => {
        const vector = vectorOf(text, dimensions as number)
        const embedding = encoding === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector]
        return { object: 'embedding', index, embedding }
      })
      const tokens = texts.reduce((sum, text) => sum + wordsOf(text).length, 0)
      return json(200, { object: 'list', data, model: model.id, usage: { prompt_tokens: tokens, total_tokens: tokens } }, 'accepted')
    },
  }
}

/**
 * Returns the input's texts: one or several, each given as a string or as tokens, where each token counts as a word;
 * null for invalid input.
 */
function textsIn(input: unknown): readonly string[] | null {
  const areTokens = (value: unknown): value is number[] => Array.isArray(value) && value.length > 0 && value.every(Number.isInteger)
  const given = typeof input === 'string' || areTokens(input) ? [input] : input
  if (!Array.isArray(given) || given.length === 0 || given.length > 2048) return null
  if (given.every(text => typeof text === 'string' && text !== '')) return given
  return given.every(areTokens) ? given.map(tokens => tokens.join(' ')) : null
}
