import type { Handler } from '../../../http/handlers.ts'
import { wholeResponse } from '../../../http/streamed.ts'
import type { ServiceOperation } from '../../../scopes.ts'
import type { Ai } from '../../engines/models/engine.ts'
import type { Asking, Made } from '../one-piece.ts'
import { askingOf, mannerOf } from './asking.ts'
import { onWire } from './problem.ts'

/** A call in OpenAI's protocol whose answer is one piece. */
export interface WholeHandler<Request, Answer> {
  readonly operation: ServiceOperation
  /** Parses the request. @throws BAD_USER_INPUT */
  read(request: globalThis.Request): Promise<Request>
  make(engine: Ai, request: Request, asking: Asking): Promise<Made<Answer>>
  /** Writes the answer: JSON, or a plain text. */
  write(made: Made<Answer>, request: Request): object | string
}

export const wholeHandler = <Asked, Answer>(ai: Ai, { operation, read, make, write }: WholeHandler<Asked, Answer>): Handler =>
  onWire(async (request, viewer) => {
    const asking = await askingOf({ viewer, clients: ai.clients, platformOrganization: ai.platformOrganization }, operation, mannerOf(request))
    const asked = await read(request)
    const made = await make(ai, asked, asking)
    const body = write(made, asked)
    return typeof body === 'string'
      ? wholeResponse(body, 'text/plain; charset=utf-8', made.headers)
      : wholeResponse(JSON.stringify(body), 'application/json', made.headers)
  })
