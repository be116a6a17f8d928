// The empty studio: drop a character, watch it being made.
import { button, element } from '../controls';
import type { Author, State } from './author';

const LOOK = 700; // milliseconds

export class Welcome {
  private readonly root = element('div', { id: 'welcome' });
  private readonly words = element('p', { class: 'words', role: 'status' });
  private readonly bar = element('progress', { max: '1', value: '0', hidden: '', 'aria-label': 'How far it is' });
  private readonly choice = element('input', { type: 'file', id: 'drop-file', accept: '.glb,.fbx,.dae', hidden: '' });
  private readonly actions = element('p', { class: 'buttons' });
  private failed = '';

  constructor(private readonly author: Author) {
    const drop = element('div', { class: 'drop' }, element('h1', {}, 'Drop a character here'),
      element('p', {}, 'A rigged .glb, .fbx or .dae with its clips.'), this.words, this.bar, this.actions, this.choice);
    this.root.append(drop);
    document.body.classList.add('empty');
    document.getElementById('stage')!.append(this.root);
    document.getElementById('hint')!.hidden = true;
    this.choice.addEventListener('change', () => this.choice.files?.[0] && void this.take(this.choice.files[0]));
    for (const name of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
      this.root.addEventListener(name, (event) => {
        event.preventDefault();
        drop.classList.toggle('over', name === 'dragenter' || name === 'dragover');
        const file = name === 'drop' ? event.dataTransfer?.files[0] : undefined;
        if (file) {
          void this.take(file);
        }
      });
    }
    void this.look();
  }

  private async take(file: File): Promise<void> {
    try {
      this.failed = '';
      this.show(await this.author.drop(file));
    } catch (reason) {
      this.failed = reason instanceof Error ? reason.message : String(reason);
      this.words.textContent = this.failed;
    }
  }

  private async look(): Promise<void> {
    try {
      const state = await this.author.look();
      if (state.opened) {
        location.reload();
        return;
      }
      this.show(state);
    } catch (reason) {
      this.words.textContent = reason instanceof Error && /token|page/.test(reason.message) ? reason.message : 'The studio has stopped. Start it again with jounce studio.';
    }
    setTimeout(() => void this.look(), LOOK);
  }

  private show({ job, folder, workspace, writes }: State): void {
    const runs = job?.runs ?? false, whole = job?.progress?.whole ?? 0;
    this.bar.hidden = !runs;
    this.bar.value = whole;
    this.words.textContent = runs ? `${job!.progress ? `${job!.progress.stage}, ${Math.round(100 * whole)} %` : `${job!.verb === 'new' ? 'reading the character' : 'starting'}`}`
      : this.failed || (job?.failed ? job.error : job?.stopped ? 'Stopped.' : workspace ? `${workspace} is not built yet.` : `It is made in ${folder}. Nothing is written elsewhere.`);
    const wanted = !writes ? 'take' : runs ? 'cancel' : workspace ? 'build' : 'choose';
    if (this.actions.dataset.shown !== wanted) {
      this.actions.dataset.shown = wanted;
      const tell = (work: Promise<State>) => void work.then((state) => this.show(state), (reason: unknown) => { this.failed = String(reason); });
      this.actions.replaceChildren(
        wanted === 'take' ? button('Take over', 'It is open in another page', () => tell(this.author.takeOver()))
          : wanted === 'cancel' ? button('Cancel', 'Stop; what is done is kept', () => tell(this.author.cancel()))
            : wanted === 'build' ? button('Build', 'Make the character move', () => tell(this.author.rebuild()), 'strong')
              : button('Choose a file', 'A character from this machine', () => this.choice.click(), 'strong'));
    }
  }
}
