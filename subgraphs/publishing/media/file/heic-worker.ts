import { createRequire } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

/** As much of `libheif-js` as is used; the package describes none of it. */
interface HeifImage {
  is_primary(): boolean
  get_width(): number
  get_height(): number
  /** Writes red, green, blue and alpha of each pixel, upright; hands back null when it cannot. */
  display(into: { readonly data: Uint8ClampedArray; readonly width: number; readonly height: number }, done: (shown: object | null) => void): void
}
interface Libheif {
  readonly HeifDecoder: new () => { decode(bytes: Uint8Array): readonly HeifImage[] }
}

/** What this thread is handed. */
export interface HeicTask {
  readonly bytes: Uint8Array
  readonly maxPixels: number
  /** How many bytes the decoder's memory may have. */
  readonly maxBytes: number
}

/** A picture as its pixels; null for one that cannot be decoded. */
export type HeicPixels = { readonly width: number; readonly height: number; readonly data: Uint8ClampedArray<ArrayBuffer> } | null

const { bytes, maxPixels, maxBytes } = workerData as HeicTask

// The decoder allocates what a file says that it needs, up to 4 GiB: in this thread alone its memory ends earlier, and the decoder fails.
const pageBytes = 65_536
const { grow } = WebAssembly.Memory.prototype
WebAssembly.Memory.prototype.grow = function (pages: number) {
  if (this.buffer.byteLength + pages * pageBytes > maxBytes) throw new RangeError('The picture needs more memory than it may have.')
  return grow.call(this, pages)
}

async function decoded(): Promise<HeicPixels> {
  const { HeifDecoder } = createRequire(import.meta.url)('libheif-js/wasm-bundle') as Libheif
  const images = new HeifDecoder().decode(bytes)
  const image = images.find(each => each.is_primary()) ?? images[0]
  if (!image) return null
  const [width, height] = [image.get_width(), image.get_height()]
  if (width < 1 || height < 1 || width * height > maxPixels) return null
  const data = new Uint8ClampedArray(width * height * 4)
  const shown = await new Promise<object | null>(done => image.display({ data, width, height }, done))
  return shown && { width, height, data }
}

const pixels = await decoded().catch(() => null)
parentPort!.postMessage(pixels, pixels ? [pixels.data.buffer] : [])
