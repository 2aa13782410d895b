import { type Answer, type Stage, send, stage } from '../stage.ts'

/** A sandbox, and what its vendors of models are asked and told. */
export interface AiStage extends Stage {
  readonly origin: string
  /** Arms a fault of any network. */
  spoil(network: string, fault: Record<string, unknown>): Promise<Answer>
  taken(network: string): Promise<readonly Record<string, unknown>[]>
  tell(what: string, input: Record<string, unknown>): Promise<Answer>
}

export async function aiStage(): Promise<AiStage> {
  const world = await stage()
  const { origin } = world.sandbox
  const tell = (what: string, input: Record<string, unknown>) =>
    send(`${origin}/_control/${what}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(input) })
  return {
    ...world,
    origin,
    tell,
    spoil: (network, fault) => tell('faults', { network, ...fault }),
    taken: async network => (await send(`${origin}/_control/received?network=${network}`)).body,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

/** A sound of so many seconds: 8 kHz, 8 bit, mono. */
export function sound(seconds: number): File {
  const wav = Buffer.alloc(44 + 8000 * seconds, 128)
  wav.write('RIFF', 0)
  wav.writeUInt32LE(36 + 8000 * seconds, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(8000, 24)
  wav.writeUInt32LE(8000, 28)
  wav.writeUInt16LE(1, 32)
  wav.writeUInt16LE(8, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(8000 * seconds, 40)
  return new File([wav], 'a-sound.wav', { type: 'audio/wav' })
}
