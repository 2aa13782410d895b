import { createHash } from 'node:crypto'
import sharp from 'sharp'
import tokens from '../design/tokens.json' with { type: 'json' }

/** The mark of the platform on its accent, with room around it for whatever shape a system cuts. */
const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512"><rect width="512" height="512" fill="${tokens.color.accent.light}"/><path d="M256 128 384 256 256 384 128 256z" fill="${tokens.color['on-accent'].light}"/><path d="M256 128 384 256 256 384z" fill="${tokens.color['accent-soft'].light}"/></svg>`

/** Draws the icons of installed apps. @returns by size, their names and content */
export async function drawIcons(): Promise<Readonly<Record<192 | 512, readonly [name: string, content: Uint8Array]>>> {
  const draw = async (size: number) => {
    const content = await sharp(Buffer.from(mark)).resize(size, size).png({ compressionLevel: 9 }).toBuffer()
    return [`icon-${size}-${createHash('sha256').update(content).digest('hex').slice(0, 8)}.png`, content] as const
  }
  return { 192: await draw(192), 512: await draw(512) }
}
