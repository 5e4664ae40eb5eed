import { render } from "preact";
import { Store } from "./model/state";
import "./style.css";
import { App } from "./views/app";
import { applyTheme, storedTheme } from "./views/parts";

applyTheme(storedTheme());
render(<App store={new Store(window)} />, document.getElementById("app")!);
