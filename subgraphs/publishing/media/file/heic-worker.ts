import { createRequire } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

/** Types of the part of `libheif-js` that we use; the package has no type declarations. */
interface HeifImage {
  is_primary(): boolean
  get_width(): number
  get_height(): number
  /** Writes the red, green, blue and alpha values of each pixel, upright; returns null on failure. */
  display(into: { readonly data: Uint8ClampedArray; readonly width: number; readonly height: number }, done: (shown: object | null) => void): void
}
interface Libheif {
  readonly HeifDecoder: new () => { decode(bytes: Uint8Array): readonly HeifImage[] }
}

/** Input of the decoder thread. */
export interface HeicTask {
  readonly bytes: Uint8Array
  readonly maxPixels: number
  /** Memory limit of the decoder, in bytes. */
  readonly maxBytes: number
}

/** Pixels of a decoded picture; null when it cannot be decoded. */
export type HeicPixels = { readonly width: number; readonly height: number; readonly data: Uint8ClampedArray<ArrayBuffer> } | null

const { bytes, maxPixels, maxBytes } = workerData as HeicTask

// The decoder allocates as much as the file declares, up to 4 GiB. This thread has a lower limit, so that the decoder
// fails instead.
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
